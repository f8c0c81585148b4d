/**
 * Paths into documents as filters and sorts see them. An array on the way stands for its documents, and for the one
 * element that a step of digits names. An array at the end stands for its elements and for itself, where the caller
 * asks for that. Arrays directly within arrays are entered by a number only.
 */
import { spend } from '../../../base/index.ts';
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';

export type FieldPath = readonly string[];

export function splitPath(text: string): FieldPath {
  return text.split('.');
}

type Test = (value: Bson | undefined) => boolean;

/** Whether some value at the path passes. A missing one is tested as undefined. */
export function someAt(document: BsonDocument, path: FieldPath, test: Test): boolean {
  return follow(document.get(path[0] as string), path, 1, test, true);
}

/** The same, where an array at the end stands for itself only. */
export function someWholeAt(document: BsonDocument, path: FieldPath, test: Test): boolean {
  return follow(document.get(path[0] as string), path, 1, test, false);
}

function follow(
  value: Bson | undefined,
  path: FieldPath,
  at: number,
  test: Test,
  expands: boolean,
): boolean {
  if (at === path.length) {
    if (expands && isArray(value))
      for (const element of value) {
        spend(1);
        if (test(element)) return true;
      }
    return test(value);
  }
  if (isDocument(value)) return follow(value.get(path[at] as string), path, at + 1, test, expands);
  return isArray(value) ? enter(value, path, at, test, expands) : test(undefined);
}

function enter(
  list: readonly Bson[],
  path: FieldPath,
  at: number,
  test: Test,
  expands: boolean,
): boolean {
  const step = path[at] as string;
  for (const element of list) {
    spend(1);
    if (isDocument(element) && follow(element.get(step), path, at + 1, test, expands)) return true;
  }
  const index = arrayIndex(step);
  if (index === undefined || index >= list.length) return false;
  const named = list[index] as Bson;
  if (at + 1 === path.length) return test(named);
  if (isDocument(named))
    return follow(named.get(path[at + 1] as string), path, at + 2, test, expands);
  return isArray(named) && enter(named, path, at + 1, test, expands);
}

/** The number that a step of digits names. */
export function arrayIndex(step: string): number | undefined {
  return /^(0|[1-9]\d{0,8})$/.test(step) ? Number(step) : undefined;
}

/** The value that a path of plain names leads to; arrays are not entered. */
export function valueAt(document: BsonDocument, path: FieldPath): Bson | undefined {
  let value: Bson | undefined = document;
  for (const step of path) {
    if (!isDocument(value)) return undefined;
    value = value.get(step);
  }
  return value;
}
