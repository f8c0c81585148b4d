/** The values of an item that declared indexes and unique keys are about, and their bytes. */
import type { Bytes } from '../../../base/index.ts';
import {
  ARRAY_ELEMENT,
  type Collation,
  compareValues,
  Extended,
  equalValues,
  isList,
  isMap,
  KeyWriter,
  keyTagOf,
  type Path,
  parsePath,
  type Value,
} from '../../../value/index.ts';
import { ARRAY_KEY, OBJECT_KEY } from '../terms/index-terms.ts';
import { classOf } from './bson-entries.ts';

const part = new KeyWriter(1024);

/** One test of the filter of an index; an item has to pass them all. */
export type IndexFilterTest =
  | { readonly path: string; readonly kind: 'exists'; readonly isPresent: boolean }
  | {
      readonly path: string;
      readonly kind: 'compare';
      readonly comparison: '=' | '<' | '<=' | '>' | '>=';
      readonly value: Value;
    };

/** The values under a path, where each element of an array counts as a value; [undefined] where there are none. */
export function multikeyValues(item: Value, path: Path): readonly Value[] {
  let found: Value[] = [item];
  for (const step of path) {
    if (step === ARRAY_ELEMENT) continue;
    const inside = found.flatMap((value): readonly Value[] => (isList(value) ? value : [value]));
    found = inside.map((value) => (isMap(value) ? value[String(step)] : undefined));
  }
  const values = found.flatMap((value): readonly Value[] => (isList(value) ? value : [value]));
  const defined = values.filter((value) => value !== undefined);
  return defined.length === 0 ? [undefined] : defined;
}

/** Whether an item passes all tests of a filter. */
export function passes(
  filter: readonly IndexFilterTest[],
  item: Value,
  collation: Collation = 'cosmos',
): boolean {
  return filter.every((test) => {
    const values = multikeyValues(item, parsePath(test.path));
    if (test.kind === 'exists')
      return values.some((value) => value !== undefined) === test.isPresent;
    return values.some((value) => isPassing(value, test, collation));
  });
}

function isPassing(
  value: Value,
  { comparison, value: constant }: IndexFilterTest & { readonly kind: 'compare' },
  collation: Collation,
): boolean {
  if (comparison === '=') return equalValues(value, constant);
  // The other comparisons hold within a type; true and false are one.
  const isAlike = typeof value === typeof constant && keyTagOf(value) === keyTagOf(constant);
  if (!isAlike && !(typeof value === 'boolean' && typeof constant === 'boolean')) return false;
  const order = compareValues(value, constant, collation);
  if (comparison.startsWith('<')) return order < 0 || (order === 0 && comparison === '<=');
  return order > 0 || (order === 0 && comparison === '>=');
}

/** A value inside a key of an index. Every part is self-delimiting, so flipping all its bits reverses its order. */
export function compositePart(
  value: Value,
  isDescending: boolean,
  collation: Collation = 'cosmos',
): Bytes {
  const isScalar = typeof value !== 'object' || value === null || value instanceof Extended;
  const bytes = isScalar
    ? part.reset().value(value, collation).take()
    : collation === 'bson'
      ? classOf(value)
      : Uint8Array.from(isList(value) ? ARRAY_KEY : OBJECT_KEY);
  if (isDescending)
    for (let at = 0; at < bytes.length; at++) bytes[at] = (bytes[at] as number) ^ 0xff;
  return bytes;
}
