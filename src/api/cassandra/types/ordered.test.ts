// Goal: the order of keys is the order of Cassandra's comparators, for several columns and both directions.
// Method: tables of ascending values; random lists of values, compared by bytes and one by one.
import { expect, test } from 'vitest';
import { compareBytes, seededRandom } from '../../../base/index.ts';
import { type CqlType, type NativeName, native } from './cql-type.ts';
import { NATIVE_VALUES } from './native-values.ts';
import { compareTyped, inverted, orderedBytes } from './ordered.ts';
import { parseType } from './parse-type.ts';
import { bytesOfJson } from './values.ts';

/** Each line is ascending. */
const ASCENDING: readonly (readonly [NativeName, readonly string[]])[] = [
  ['ascii', ['', 'a', 'aa', 'ab', 'b']],
  ['bigint', ['-9223372036854775808', '-1', '0', '1', '9223372036854775807']],
  ['blob', ['0x', '0x00', '0x0000', '0x0001', '0x01', '0xff', '0xff00']],
  ['boolean', ['false', 'true']],
  ['date', ['-0001-01-01', '1969-12-31', '1970-01-01', '2024-02-29']],
  [
    'decimal',
    [
      '-1e40',
      '-10',
      '-1.5',
      '-1.05',
      '-0.001',
      '0',
      '1e-20',
      '0.5',
      '0.55',
      '1',
      '9.99',
      '10',
      '1e40',
    ],
  ],
  ['double', ['-Infinity', '-1.5', '-0.0', '0.0', '1e-300', '2', 'Infinity', 'NaN']],
  ['float', ['-Infinity', '-1.5', '-0.0', '0.0', '2', 'Infinity', 'NaN']],
  ['inet', ['1.2.3.4', '127.0.0.1', '128.0.0.1']],
  ['int', ['-2147483648', '-1', '0', '1', '2147483647']],
  ['smallint', ['-32768', '-1', '0', '32767']],
  ['text', ['', 'A', 'a', 'a b', 'b', 'ä', '\u{1f600}']],
  ['time', ['00:00:00', '00:00:00.000000001', '23:59:59.999999999']],
  ['timestamp', ['1969-01-01', '1970-01-01', '2024-02-29 12:00:00.001+0000']],
  [
    'timeuuid',
    [
      'ffffffff-0000-1000-8000-000000000000',
      '00000000-0001-1000-8000-000000000000',
      '00000000-0000-1001-8000-000000000000',
    ],
  ],
  ['tinyint', ['-128', '-1', '0', '127']],
  [
    'uuid',
    [
      'ffffffff-0000-1000-8000-000000000000',
      '00000000-0000-1001-8000-000000000000',
      '00000000-0000-4000-8000-000000000000',
    ],
  ],
  [
    'varint',
    [
      '-123456789012345678901234567890',
      '-256',
      '-255',
      '-1',
      '0',
      '1',
      '255',
      '256',
      '123456789012345678901234567890',
    ],
  ],
];

const bytesOf = (name: NativeName, text: string) =>
  text === '' ? new Uint8Array(0) : NATIVE_VALUES[name].parse(text);

test.each(ASCENDING)('%s', (name, texts) => {
  const keys = texts.map((text) => orderedBytes(native(name), bytesOf(name, text)));
  for (let at = 1; at < keys.length; at++) {
    const [a, b] = [keys[at - 1] as Uint8Array, keys[at] as Uint8Array];
    expect(compareBytes(a, b), `${texts[at - 1]} < ${texts[at]}`).toBe(-1);
    expect(compareBytes(inverted(a), inverted(b)), 'descending').toBe(1);
  }
});

test('equal decimals of different scale have one key', () => {
  const key = (text: string) => orderedBytes(native('decimal'), bytesOf('decimal', text));
  expect(key('1.0')).toEqual(key('1.000'));
  expect(key('100')).toEqual(key('1e2'));
});

test('collections and tuples compare part by part', () => {
  const ascending: readonly (readonly [string, readonly unknown[]])[] = [
    ['frozen<list<int>>', [[], [1], [1, 2], [2], [2, -1], [2, 0]]],
    ['frozen<map<text, int>>', [{}, { a: 1 }, { a: 1, b: 0 }, { a: 2 }, { b: 0 }]],
    [
      'tuple<int, text>',
      [
        [null, 'z'],
        [1, null],
        [1, ''],
        [1, 'a'],
        [2, null],
      ],
    ],
  ];
  for (const [text, values] of ascending) {
    const type = parseType(text);
    const keys = values.map((value) => bytesOfJson(type, value as never));
    for (let at = 1; at < keys.length; at++)
      expect(
        compareTyped(type, keys[at - 1] as Uint8Array, keys[at] as Uint8Array),
        `${text} ${at}`,
      ).toBe(-1);
  }
});

const SEED = Number(process.env.MESOCOSM_SEED ?? 1);

test.each([SEED, SEED + 1, SEED + 2])(
  'keys of several columns compare column by column, seed %i',
  (seed) => {
    const random = seededRandom(seed);
    const columns = Array.from(
      { length: 3 },
      (): { type: CqlType; texts: readonly string[]; isDescending: boolean } => {
        const [name, texts] = ASCENDING[
          random.below(ASCENDING.length)
        ] as (typeof ASCENDING)[number];
        return { type: native(name), texts, isDescending: random.below(2) === 1 };
      },
    );
    const pick = () => columns.map(({ texts }) => random.below(texts.length));
    const keyOf = (places: readonly number[]) =>
      Buffer.concat(
        columns.map(({ type, texts, isDescending }, at) => {
          const name = (type as { name: NativeName }).name;
          const ordered = orderedBytes(type, bytesOf(name, texts[places[at] as number] as string));
          return isDescending ? inverted(ordered) : ordered;
        }),
      );
    for (let round = 0; round < 2000; round++) {
      const [a, b] = [pick(), pick()];
      const differing = columns.findIndex((_, at) => a[at] !== b[at]);
      const order =
        differing < 0
          ? 0
          : Math.sign((a[differing] as number) - (b[differing] as number)) *
            (columns[differing]?.isDescending ? -1 : 1);
      expect(compareBytes(keyOf(a), keyOf(b)), `seed ${seed}: ${a} ${b}`).toBe(order);
    }
  },
);
