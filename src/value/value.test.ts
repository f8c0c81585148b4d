// Goal: equality is by meaning, not by representation. Method: tables of equal and of different pairs, both ways.
import { describe, expect, it } from 'vitest';
import { Extended, equalValues, isMap, isNumeric, type Value } from './value.ts';

const int64 = (value: bigint) => new Extended({ kind: 'int64', value });
const decimal = (digits: string) => new Extended({ kind: 'decimal', digits });
const sixteen = Uint8Array.from({ length: 16 }, (_, at) => at);

describe('equalValues', () => {
  const equal: readonly (readonly [Value, Value])[] = [
    [undefined, undefined],
    [0, -0],
    [Number.NaN, Number.NaN],
    [5, int64(5n)],
    [0.5, decimal('5E-1')],
    [int64(9007199254740993n), decimal('9007199254740993.0')],
    [Number.NaN, decimal('NaN')],
    [
      { a: 1, b: [2] },
      { b: [2], a: int64(1n) },
    ],
    [{ a: 1, b: undefined }, { a: 1 }],
    [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
    [
      new Extended({ kind: 'uuid', bytes: sixteen }),
      new Extended({ kind: 'binary', subtype: 4, bytes: sixteen }),
    ],
    [new Extended({ kind: 'minKey' }), new Extended({ kind: 'minKey' })],
  ];
  it.each(equal)('%j equals %j', (a, b) => {
    expect(equalValues(a, b)).toBe(true);
    expect(equalValues(b, a)).toBe(true);
  });

  const different: readonly (readonly [Value, Value])[] = [
    [undefined, null],
    [0, false],
    [1, '1'],
    [9007199254740992, int64(9007199254740993n)],
    [0.1, decimal('0.1')],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, undefined]],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, JSON.parse('{"__proto__":1}')],
    [{}, JSON.parse('{"__proto__":1}')],
    [{ payload: { kind: 'minKey' } }, new Extended({ kind: 'minKey' })],
    [new Extended({ kind: 'date', ms: 1 }), 1],
    [new Extended({ kind: 'minKey' }), new Extended({ kind: 'maxKey' })],
    [
      new Extended({ kind: 'binary', subtype: 0, bytes: sixteen }),
      new Extended({ kind: 'binary', subtype: 4, bytes: sixteen }),
    ],
    ['\ud800', '\ufffd'],
  ];
  it.each(different)('%j differs from %j', (a, b) => {
    expect(equalValues(a, b)).toBe(false);
    expect(equalValues(b, a)).toBe(false);
  });
});

it('no document can be mistaken for an Extended', () => {
  const document = { payload: { kind: 'int64', value: '5' } };
  expect(isMap(document)).toBe(true);
  expect(isNumeric(document)).toBe(false);
});
