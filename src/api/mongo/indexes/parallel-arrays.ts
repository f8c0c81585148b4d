/** Two arrays that fields of one index go through, which MongoDB refuses: an entry would be needed for every pair. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import type { FieldPath } from '../query/path.ts';
import { elementAt, type Found, follow } from './index-steps.ts';

/** The names of two such arrays, the first one last. */
export function parallelArrays(
  document: BsonDocument,
  paths: readonly FieldPath[],
): readonly [string, string] | undefined {
  return parallelIn(document, paths, []);
}

function parallelIn(
  document: BsonDocument,
  paths: readonly FieldPath[],
  elements: readonly (Found | undefined)[],
): readonly [string, string] | undefined {
  let list: readonly Bson[] | undefined;
  let name = '';
  const inside: FieldPath[] = [];
  for (let at = 0; at < paths.length; at++) {
    const path = paths[at] as FieldPath;
    const { value, rest } = follow(document, path, elements[at]);
    if (!isArray(value)) continue;
    const own = path[path.length - rest.length - 1] as string;
    if (list !== undefined && value !== list) return [own, name];
    list = value;
    name = own;
    if (rest.length > 0) inside.push(rest);
  }
  // Elements have two arrays only where two fields go on in them.
  if (list === undefined || inside.length < 2) return undefined;
  const named = inside.map((path) => elementAt(list, path));
  for (const element of list) {
    const found = parallelIn(isDocument(element) ? element : NOTHING, inside, named);
    if (found !== undefined) return found;
  }
  return undefined;
}

const NOTHING: BsonDocument = new Map();
