// Goal: a filter decided by the text gives the same result as by the entity, and plain cases are decided. Method: a
// table of plain cases; random filters over random entities, whose values look like names and annotations.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { edmCodec, type ValueMap } from '../../../value/index.ts';
import { testOf } from './filter.ts';
import { parseFilter } from './parser.ts';
import { textKeys, textTestOf } from './text-test.ts';

function decided(text: string, filter: string): boolean | 'no keys' {
  const keys = textKeys(text);
  return keys === undefined ? 'no keys' : textTestOf(parseFilter(filter))(text, keys);
}

function textOf(document: ValueMap): string {
  return Buffer.from(edmCodec.encode(document)).toString('utf8');
}

const ENTITY = textOf({
  PartitionKey: 'p',
  RowKey: 'r',
  count: 7,
  price: 1.5,
  isOn: true,
  name: 'ä "b",',
  'big@odata.type': 'Edm.Int64',
  big: '7',
  'guid@odata.type': 'Edm.Guid',
  guid: '2b4ef4d2-57c9-4b4b-8f2b-6f0f0f0f0f0f',
});

const CASES: readonly (readonly [string, boolean])[] = [
  ["PartitionKey eq 'p' and count eq 7", true],
  ["PartitionKey eq 'p' and RowKey ge 'q' and RowKey lt 's'", true],
  ["PartitionKey eq 'q'", false],
  ['count eq 8', false],
  ['7 eq count and isOn', true],
  ['price eq 1.5', true],
  ['isOn eq false or count eq 7', true],
  ['name eq \'ä "b",\'', true],
  // These are never decided by the text.
  ['big eq 7', false],
  ["guid eq '2b4ef4d2-57c9-4b4b-8f2b-6f0f0f0f0f0f'", false],
  ['not (count eq 8)', false],
  ['count gt 6', false],
  ['count eq count', false],
];

test.each(CASES)('%s', (filter, isTold) => {
  expect(decided(ENTITY, filter)).toBe(isTold);
});

test('keys with marks and backslashes are not decided', () => {
  for (const key of ['a"b', 'a\\b', 'a\nb', '\ud800', '']) {
    const expected = key === '' ? true : 'no keys';
    expect(decided(textOf({ PartitionKey: key, RowKey: 'r' }), 'true')).toBe(expected);
    expect(decided(textOf({ PartitionKey: 'p', RowKey: key }), 'true')).toBe(expected);
  }
});

const SEED = 20261116;

test(`what is decided is so (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const one = <T>(of: readonly T[]): T => of[random.below(of.length)] as T;
  const texts = ['x', ',"a":1,', '"a":1', 'a', ',"a@odata.type":"Edm.Guid",', '\\', 'ä', '1', ''];
  const value = (): unknown =>
    one([
      () => one(texts),
      () => random.below(3),
      () => random.below(3) / 2,
      () => one([true, false]),
    ])();
  const names = ['a', 'b', 'A', 'aa', 'PartitionKey', 'RowKey'];
  const literal = (): string => {
    const found = value();
    return typeof found === 'string' ? `'${found}'` : String(found);
  };
  const filter = (depth: number): string =>
    depth > 0 && random.below(3) > 0
      ? `(${filter(depth - 1)} ${one(['and', 'or'])} ${filter(depth - 1)})`
      : `${one(names)} ${one(['eq', 'eq', 'eq', 'ne', 'lt', 'ge'])} ${literal()}`;
  let count = 0;
  for (let round = 0; round < 20_000; round++) {
    const document: Record<string, string | number | boolean> = {
      PartitionKey: one(texts),
      RowKey: one(texts),
    };
    for (const name of ['b', 'a', 'aa', 'A'])
      if (random.below(3) > 0) document[name] = value() as string | number | boolean;
    if (random.below(4) === 0)
      Object.assign(document, { 'a@odata.type': 'Edm.Int64', a: String(random.below(3)) });
    if (random.below(4) === 0)
      Object.assign(document, { 'b@odata.type': 'Edm.Binary', b: one(['', 'eHg=']) });
    const body = edmCodec.encode(document);
    const text = Buffer.from(body).toString('utf8');
    const wanted = filter(2);
    if (decided(text, wanted) !== true) continue;
    count++;
    const isSo = testOf(parseFilter(wanted))(edmCodec.decode(body) as ValueMap);
    expect(isSo, `${wanted} of ${text}`).toBe(true);
  }
  expect(count).toBeGreaterThan(300);
});
