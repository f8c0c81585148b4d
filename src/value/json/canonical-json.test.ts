// Goal: text counts as canonical only if parsing and printing it gives the same bytes. Method: tables; seeded texts
// in all forms that JSON allows, and broken ones, compared with JSON.parse and JSON.stringify.
import { expect, it } from 'vitest';
import { type Random, seededRandom } from '../../base/index.ts';
import { CanonicalJson } from './canonical-json.ts';
import { readCanonicalObject } from './canonical-json-steps.ts';

const object = new CanonicalJson();

function isPrinted(text: string): boolean {
  const bytes = Buffer.from(text);
  const isWhole = object.read(bytes, 0) === bytes.length;
  // The reader in steps gives the same result and the same properties.
  const inSteps = new CanonicalJson();
  expect(inStepsTo(bytes, inSteps) === bytes.length).toBe(isWhole);
  if (isWhole)
    for (const name of Object.keys(JSON.parse(text))) {
      const printed = Buffer.from(JSON.stringify(name)).subarray(1, -1);
      expect(inSteps.textOf(printed)).toEqual(object.textOf(printed));
    }
  return isWhole;
}

function inStepsTo(bytes: Buffer, into: CanonicalJson): number {
  for (const steps = readCanonicalObject(bytes, into); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

it('the reader in steps accepts an object of very many names, and rejects one name twice', () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `"n${at}":${at}`);
  const text = Buffer.from(`{${names.join(',')}}`);
  const into = new CanonicalJson();
  expect(inStepsTo(text, into)).toBe(text.length);
  expect(into.get(Buffer.from('n99999'))).toBe(99_999);
  expect(inStepsTo(Buffer.from(`{${names.join(',')},"n7":1}`), into)).toBe(-1);
});

it.each([
  '{}',
  '{"id":"a","n":1}',
  '{"":0,"a b":-1,"é":"😀\u2028\u007f","__proto__":{"x":null}}',
  '{"t":"\\"\\\\\\b\\f\\n\\r\\t/","l":[],"m":{},"k":[true,false,null,[[]],{"k":1}]}',
  '{"a":0.5,"b":-12.25,"c":123456789012345,"d":0.000001,"e":0.1234567890123456}',
  '{"a":100000000000000000000,"b":0.30000000000000004,"c":1.7976931348623157}',
])('%s is canonical', (text) => {
  expect(JSON.stringify(JSON.parse(text))).toBe(text);
  expect(isPrinted(text)).toBe(true);
});

it.each([
  '',
  '1',
  '[]',
  '{',
  '{"a":1',
  '{"a":1}}',
  '{"a":1,}',
  '{"a" :1}',
  '{ "a":1}',
  '{"a":1 }',
  '{"a":1,"a":2}',
  '{"a":1,"b":{"a":1},"a":2}',
  '{"b":1,"1":2}',
  '{"a":"\\u0041"}',
  '{"a":"\\/"}',
  '{"a":"\\',
  '{"a":"\t"}',
  '{"\\u0061":1}',
  '{"a":1.0}',
  '{"a":01}',
  '{"a":-0}',
  '{"a":-}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":1e2}',
  '{"a":1E2}',
  '{"a":0.0000001}',
  '{"a":12345678901234567890}',
  '{"a":tru}',
  '{"a":nul',
  '{"a":[1,]}',
  '{"a":[1}',
  `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
])('%s is not canonical', (text) => {
  expect(isPrinted(text)).toBe(false);
});

it('an object of very many names is left to the parser', () => {
  const of = (count: number): string =>
    `{${Array.from({ length: count }, (_, at) => `"n${at}":0`).join()}}`;
  const isRead = (text: Buffer): boolean => object.read(text, 0) === text.length;
  expect([128, 129].map((count) => isRead(Buffer.from(of(count))))).toEqual([true, false]);
});

it('returns the properties', () => {
  const inner = new CanonicalJson();
  const outer = new CanonicalJson({ name: 'in', object: inner });
  const text = Buffer.from('[{"a":"ü\\n","in":{"id":"x","n":[1,{"k":2}]},"b":-1.5}]');
  expect(outer.read(text, 1)).toBe(text.length - 1);
  const name = (of: string): Buffer => Buffer.from(of);
  expect(outer.get(name('a'))).toBe('ü\n');
  expect(outer.get(name('b'))).toBe(-1.5);
  expect(outer.get(name('c'))).toBeUndefined();
  expect(outer.has(name('in'))).toBe(true);
  expect(outer.textOf(name('in'))?.toString()).toBe('{"id":"x","n":[1,{"k":2}]}');
  expect(inner.isRead).toBe(true);
  expect(inner.get(name('n'))).toEqual([1, { k: 2 }]);
  outer.read(Buffer.from('{"in":[]}'), 0);
  expect(inner.isRead).toBe(false);
});

it.each([1, 2, 3, 4])('canonical text is printed unchanged, seed %d', (seed) => {
  const random = seededRandom(seed);
  let printed = 0;
  for (let round = 0; round < 3000; round++) {
    const text = mangled(random, objectText(random, 0, random.below(4) === 0));
    if (!isPrinted(text)) continue;
    printed++;
    expect(JSON.stringify(JSON.parse(text)), `seed ${seed} round ${round}`).toBe(text);
    for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, unknown>))
      if (JSON.stringify(name) === `"${name}"`)
        expect(object.get(Buffer.from(name)), `seed ${seed} ${name}`).toEqual(value);
  }
  expect(printed).toBeGreaterThan(300);
});

/** Mostly unchanged; otherwise with a byte changed, removed or doubled. */
function mangled(random: Random, text: string): string {
  if (random.below(3) > 0) return text;
  const at = random.below(text.length);
  const put = [...'"\\{}[]:,0-.e t'][random.below(15)] as string;
  const now = [put, '', text[at] + put][random.below(3)];
  return (text.slice(0, at) + now + text.slice(at + 1)).toWellFormed();
}

const NAMES = ['a', 'b', 'id', '_ts', '7', 'x7', '', 'é', 'a\\n', '\\u0061', '__proto__', 'toJSON'];
const TEXTS = [
  '',
  'plain',
  'two words',
  'é😀',
  '\\n\\"\\\\',
  '\\u0041',
  '\\u0001',
  '\\/',
  '\\ud800',
];
const NUMBERS = [
  '0',
  '-0',
  '7',
  '-1724',
  '0.7351',
  '1.0',
  '1.50',
  '1e3',
  '1e21',
  '1.5e-7',
  '0.0000015',
  '0.000015',
  '123456789012345678',
  '12.3456789012345678',
  '1e400',
];

/** @param isLoose - with spaces and forms that are never printed. */
function objectText(random: Random, depth: number, isLoose: boolean): string {
  const space = (): string => (isLoose && random.below(12) === 0 ? ' ' : '');
  const names = NAMES.filter(() => random.below(4) === 0);
  if (isLoose && random.below(8) === 0) names.push(...names.slice(0, 1));
  const properties = names.map(
    (name) => `${space()}"${name}":${space()}${valueText(random, depth + 1, isLoose)}`,
  );
  return `{${properties.join(',')}}`;
}

function valueText(random: Random, depth: number, isLoose: boolean): string {
  const kind = random.below(depth > 3 ? 4 : 6);
  if (kind === 0) return ['true', 'false', 'null'][random.below(3)] as string;
  if (kind === 1) return `"${TEXTS[random.below(isLoose ? TEXTS.length : 5)]}"`;
  if (kind === 2) return NUMBERS[random.below(NUMBERS.length)] as string;
  if (kind === 3) return String((random.below(2_000_001) - 1_000_000) / 10 ** random.below(9));
  if (kind === 4) return objectText(random, depth, isLoose);
  const elements = Array.from({ length: random.below(4) }, () => valueText(random, depth, isLoose));
  return `[${elements.join(',')}]`;
}
