/** How the fields of an index go through a document: to their values, or to the first array on the way. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import { arrayIndex, type FieldPath } from '../query/path.ts';

/** What is left of a path, and the value that it has come to. */
export interface Found {
  readonly value: Bson | undefined;
  readonly rest: FieldPath;
  /** True where the value is an element that the last part of the path has named by its number. */
  readonly isElement?: true;
}

const END: FieldPath = [];

/** @param element - what the path finds as the number of an element, where the document is one. */
export function follow(document: BsonDocument, path: FieldPath, element?: Found): Found {
  if (element !== undefined && !document.has(path[0] as string)) return element;
  let value: Bson | undefined = document;
  for (let at = 0; at < path.length; at++) {
    if (!isDocument(value)) return { value: undefined, rest: END };
    value = value.get(path[at] as string);
    if (isArray(value)) return { value, rest: path.slice(at + 1) };
  }
  return { value, rest: END };
}

/** What a path that begins with a number finds in an array, for all of its elements. */
export function elementAt(list: readonly Bson[], path: FieldPath): Found | undefined {
  const index = arrayIndex(path[0] ?? '');
  const value = index === undefined ? undefined : list[index];
  if (value === undefined) return undefined;
  const rest = path.slice(1);
  if (rest.length === 0) return { value, rest, isElement: true };
  if (isArray(value)) return { value, rest };
  return isDocument(value) ? follow(value, rest) : { value: undefined, rest: END };
}
