/** The difference of two versions of a document, as update events describe it. */
import {
  type Bson,
  type BsonDocument,
  compareBson,
  equalBson,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { documentOf } from '../reply.ts';

interface DescriptionOptions {
  /** True: paths that can be read in two ways are listed too. */
  readonly isExpanded: boolean;
  /**
   * True for the update of a pipeline: MongoDB compares the versions then, and says where an array has become shorter.
   * Behind operators such an array is sent whole, and so is one that was empty.
   */
  readonly isPipeline: boolean;
}

interface Difference {
  readonly isPipeline: boolean;
  readonly updated: Map<string, Bson>;
  readonly removed: string[];
  readonly truncated: BsonDocument[];
  /** Paths of which the text does not tell names from places in arrays, with their steps. */
  readonly ambiguous: Map<string, Bson>;
}

/** The property `updateDescription`. */
export function describeUpdate(
  before: BsonDocument,
  after: BsonDocument,
  { isExpanded, isPipeline }: DescriptionOptions,
): BsonDocument {
  const found: Difference = {
    isPipeline,
    updated: new Map(),
    removed: [],
    truncated: [],
    ambiguous: new Map(),
  };
  compare(before, after, [], found);
  return documentOf({
    updatedFields: found.updated,
    removedFields: found.removed,
    truncatedArrays: found.truncated,
    ...(isExpanded ? { disambiguatedPaths: found.ambiguous } : {}),
  });
}

/** A name, or a place in an array. */
type Step = string | number;

function textOf(steps: readonly Step[], into: Difference): string {
  const text = steps.join('.');
  if (steps.some((step) => typeof step === 'string' && /^\d+$|\./.test(step)))
    into.ambiguous.set(text, [...steps]);
  return text;
}

function compare(
  before: BsonDocument,
  after: BsonDocument,
  prefix: readonly Step[],
  into: Difference,
): void {
  for (const name of before.keys())
    if (!after.has(name)) into.removed.push(textOf([...prefix, name], into));
  for (const [name, value] of after) {
    const old = before.get(name);
    const path = [...prefix, name];
    if (old === undefined) into.updated.set(textOf(path, into), value);
    else compareValues(old, value, path, into);
  }
}

function compareValues(old: Bson, value: Bson, path: readonly Step[], into: Difference): void {
  if (isSame(old, value)) return;
  if (isDocument(old) && isDocument(value)) compare(old, value, path, into);
  else if (isArray(old) && isArray(value) && isPatch(old, value, into))
    comparePatch(old, value, path, into);
  else into.updated.set(textOf(path, into), value);
}

function isSame(a: Bson, b: Bson): boolean {
  return compareBson(a, b) === 0 && equalBson(a, b);
}

/** True where it is shorter to name elements than the whole array. */
function isPatch(
  old: readonly Bson[],
  value: readonly Bson[],
  { isPipeline }: Difference,
): boolean {
  if (value.length === 0) return false;
  if (!isPipeline && (value.length < old.length || old.length === 0)) return false;
  const common = Math.min(old.length, value.length);
  let changed = Math.max(0, value.length - old.length);
  for (let at = 0; at < common; at++) if (!isSame(old[at] as Bson, value[at] as Bson)) changed += 1;
  return changed * 2 < value.length || changed <= 1;
}

function comparePatch(
  old: readonly Bson[],
  value: readonly Bson[],
  path: readonly Step[],
  into: Difference,
): void {
  if (value.length < old.length)
    into.truncated.push(documentOf({ field: textOf(path, into), newSize: value.length }));
  for (const [at, element] of value.entries()) {
    const before = old[at];
    if (before === undefined) into.updated.set(textOf([...path, at], into), element);
    else compareValues(before, element, [...path, at], into);
  }
}
