/** An update document: a replacement, or operators that are checked once and applied to many documents. */
import { spend } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  compareBson,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { printBson, printDocument } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import type { CompareBson } from '../query/collation.ts';
import { equalities, type Filter, nearOf, partsOf, textOf } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter, type DocumentTest } from '../query/filter-test.ts';
import { arrayIndex, type FieldPath, splitPath } from '../query/path.ts';
import { PLAIN_CONTEXT, type QueryContext } from '../query/query-context.ts';
import { type MutableDocument, mutableCopy, Place } from './mutable.ts';
import { OPERATORS, type UpdateOperator } from './operators.ts';
import { type ApplyPipeline, parseUpdatePipeline } from './pipeline.ts';

interface UpdateContext {
  readonly nowMs: number;
  /** True while an upsert makes a document. */
  readonly isInsert: boolean;
  /** The element that `$` stands for in the array at the path. */
  readonly matched?: (path: string) => number | undefined;
  readonly compare?: CompareBson | undefined;
}

export type Update =
  | {
      readonly kind: 'replacement';
      readonly document: BsonDocument;
      readonly keepsEmptyTimestamps: boolean;
    }
  | { readonly kind: 'pipeline'; readonly apply: ApplyPipeline }
  | { readonly kind: 'operators'; readonly steps: readonly UpdateStep[] };

interface UpdateStep {
  readonly operator: string;
  readonly path: FieldPath;
  readonly apply: UpdateOperator;
  readonly argument: Bson;
  readonly filters: ReadonlyMap<string, DocumentTest>;
}

/** MongoDB's own words for the whole family of unknown modifiers. */
const KNOWN = 'Expected a valid update modifier or pipeline-style update specified as an array';

export function parseUpdate(
  update: Bson | undefined,
  arrayFilters: readonly Bson[] = [],
  context: QueryContext = PLAIN_CONTEXT,
): Update {
  if (isArray(update)) {
    if (arrayFilters.length > 0)
      throw new MongoError(
        'FailedToParse',
        'arrayFilters may not be specified for pipeline-style updates',
      );
    return { kind: 'pipeline', apply: parseUpdatePipeline(update, context) };
  }
  if (!isDocument(update))
    throw new MongoError('FailedToParse', 'Update argument must be either an object or an array');
  const first = update.keys().next().value ?? '';
  if (!first.startsWith('$')) {
    if (arrayFilters.length > 0)
      throw new MongoError(
        'FailedToParse',
        'arrayFilters may not be specified for replacement-style updates',
      );
    const keepsEmptyTimestamps = context.sent.keepsEmptyTimestamps === true;
    return { kind: 'replacement', document: checkReplacement(update), keepsEmptyTimestamps };
  }
  const filters = parseArrayFilters(arrayFilters, context);
  const steps: UpdateStep[] = [];
  for (const [operator, fields] of update) {
    const definition = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (definition === undefined)
      throw new MongoError('FailedToParse', `Unknown modifier: ${operator}. ${KNOWN}`);
    if (!isDocument(fields))
      throw new MongoError(
        'FailedToParse',
        `Modifiers operate on fields but we found type ${bsonTypeOf(fields)} instead. For example: ` +
          `{$mod: {<field>: ...}} not {${operator}: ${printBson(fields)}}`,
      );
    for (const [name, argument] of fields) {
      const path = checkPath(name);
      definition.check?.(name, argument, context);
      steps.push({ operator, path, apply: definition.apply, argument, filters });
    }
  }
  checkFiltersUsed(filters, steps, update);
  checkConflicts(steps);
  steps.sort((a, b) => comparePaths(a.path, b.path));
  return { kind: 'operators', steps };
}

function checkReplacement(document: BsonDocument): BsonDocument {
  for (const name of document.keys())
    if (name.startsWith('$'))
      throw new MongoError(
        'DollarPrefixedFieldName',
        `The dollar ($) prefixed field '${name}' in '${name}' is not allowed in the context of an update's ` +
          'replacement document. Consider using an aggregation pipeline with $replaceWith.',
      );
  return document;
}

function checkPath(name: string): FieldPath {
  const path = splitPath(name);
  if (name === '') throw new MongoError('EmptyFieldName', 'An empty update path is not valid.');
  if (path.includes(''))
    throw new MongoError(
      'EmptyFieldName',
      `The update path '${name}' contains an empty field name, which is not allowed.`,
    );
  if (path[0] === '$' || isEach(path[0] as string))
    throw new MongoError(
      'BadValue',
      path[0] === '$'
        ? `Cannot have positional (i.e. '$') element in the first position in path '${name}'`
        : `Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '${name}'`,
    );
  if (path.filter((step) => step === '$').length > 1)
    throw new MongoError(
      'BadValue',
      `Too many positional (i.e. '$') elements found in path '${name}'`,
    );
  return path;
}

/** New names at the top of a stored document do not begin like an operator. */
function checkNames(before: BsonDocument, after: BsonDocument): void {
  for (const name of after.keys())
    if (name.startsWith('$') && !before.has(name))
      throw new MongoError(
        'DollarPrefixedFieldName',
        `The dollar ($) prefixed field '${name}' in '${name}' is not allowed in the context of an update's ` +
          'replacement document. Consider using an aggregation pipeline with $replaceWith.',
      );
}

/** `$[]` or `$[name]`. */
function isEach(step: string): boolean {
  return step.startsWith('$[') && step.endsWith(']');
}

function parseArrayFilters(
  filters: readonly Bson[],
  context: QueryContext,
): ReadonlyMap<string, DocumentTest> {
  const byName = new Map<string, DocumentTest>();
  for (const sent of filters) {
    if (!isDocument(sent))
      throw new MongoError(
        'TypeMismatch',
        `BSON field 'update.updates.arrayFilters.0' is the wrong type '${bsonTypeOf(sent)}', expected type 'object'`,
      );
    const filter = parseFilter(sent, context);
    if (textOf(filter) !== undefined || nearOf(filter) !== undefined)
      throw new MongoError(
        'BadValue',
        'geometries in order and $text are not allowed in this context',
      );
    const names = new Set<string>();
    for (const part of partsOf(filter))
      if (part.kind === 'field') names.add(part.path[0] as string);
    const [name] = names;
    if (name === undefined)
      throw new MongoError(
        'FailedToParse',
        'Cannot use an expression without a top-level field name in arrayFilters',
      );
    if (names.size !== 1)
      throw new MongoError(
        'FailedToParse',
        `Error parsing array filter :: caused by :: Expected a single top-level field name, found '${[...names].join("' and '")}'`,
      );
    if (!/^[a-z][a-zA-Z0-9]*$/.test(name))
      throw new MongoError(
        'BadValue',
        `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${name}'`,
      );
    if (byName.has(name))
      throw new MongoError(
        'FailedToParse',
        `Found multiple array filters with the same top-level field name ${name}`,
      );
    byName.set(name, compileFilter(filter, context.collation?.compare));
  }
  return byName;
}

/** Every filter has a place in the update, and every place its filter. */
function checkFiltersUsed(
  filters: ReadonlyMap<string, DocumentTest>,
  steps: readonly UpdateStep[],
  update: BsonDocument,
): void {
  const used = new Set<string>();
  for (const { path } of steps)
    for (const step of path)
      if (isEach(step) && step !== '$[]') {
        const name = step.slice(2, -1);
        used.add(name);
        if (!filters.has(name))
          throw new MongoError(
            'BadValue',
            `No array filter found for identifier '${name}' in path '${path.join('.')}'`,
          );
      }
  for (const name of filters.keys())
    if (!used.has(name))
      throw new MongoError(
        'FailedToParse',
        `The array filter for identifier '${name}' was not used in the update ${printDocument(update)}`,
      );
}

/** No path may be the same as another, or lead through it. */
function checkConflicts(steps: readonly UpdateStep[]): void {
  const seen = new Set<string>();
  /** What leads to the paths that were seen. */
  const above = new Set<string>();
  for (const { operator, path, argument } of steps) {
    const paths =
      operator === '$rename' && typeof argument === 'string' ? [path, splitPath(argument)] : [path];
    for (const each of paths) {
      const text = each.join('.');
      const beginnings = each.slice(1).map((_, at) => each.slice(0, at + 1).join('.'));
      const other =
        seen.has(text) || above.has(text) ? text : beginnings.find((one) => seen.has(one));
      if (other !== undefined)
        throw new MongoError(
          'ConflictingUpdateOperators',
          `Updating the path '${text}' would create a conflict at '${other}'`,
        );
      seen.add(text);
      for (const beginning of beginnings) above.add(beginning);
    }
  }
}

/** New fields come in this order: by name, and by number where names are numbers. */
function comparePaths(a: FieldPath, b: FieldPath): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a[at] as string, b[at] as string];
    if (left === right) continue;
    const [leftIndex, rightIndex] = [arrayIndex(left), arrayIndex(right)];
    if (leftIndex !== undefined && rightIndex !== undefined) return leftIndex - rightIndex;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}

/** Steps of work of one operator at one place: it has to be found first. */
const STEP_COST = 30;

/** The document after the update. `current` stays as it is. */
export function applyUpdate(
  update: Update,
  current: BsonDocument,
  context: UpdateContext,
): BsonDocument {
  if (update.kind === 'replacement') {
    const { document, keepsEmptyTimestamps } = update;
    const made = keepsEmptyTimestamps ? document : stamped(document, context.nowMs);
    return replaced(made, current.get('_id'));
  }
  if (update.kind === 'pipeline') return replaced(update.apply(current), current.get('_id'));
  const document = mutableCopy(current);
  for (const step of update.steps)
    for (const path of expandPath(document, step, context)) {
      spend(STEP_COST);
      step.apply(new Place(document, path), step.argument, {
        ...context,
        compare: context.compare ?? compareBson,
        at: (other) => new Place(document, splitPath(other)),
      });
    }
  if (!context.isInsert) checkNames(current, document);
  return document;
}

/** An empty timestamp at the top of a new document is the time of the write. */
export function stamped(document: BsonDocument, nowMs: number): BsonDocument {
  let made: Map<string, Bson> | undefined;
  for (const [name, value] of document)
    if (name !== '_id' && value instanceof Extended && value.payload.kind === 'timestamp')
      if (value.payload.high === 0 && value.payload.low === 0) {
        made ??= new Map(document);
        made.set(name, new Extended({ kind: 'timestamp', high: Math.floor(nowMs / 1000), low: 1 }));
      }
  return made ?? document;
}

function replaced(document: BsonDocument, id: Bson | undefined): BsonDocument {
  const own = document.get('_id') ?? id;
  if (own === undefined) return document;
  const result: MutableDocument = new Map([['_id', own]]);
  for (const [name, value] of document) if (name !== '_id') result.set(name, value);
  return result;
}

/** The paths that `$`, `$[]` and `$[name]` stand for in a document. */
function expandPath(
  document: BsonDocument,
  { path, filters }: UpdateStep,
  { matched, isInsert }: UpdateContext,
): readonly FieldPath[] {
  if (!path.some((step) => step === '$' || isEach(step))) return [path];
  let found: FieldPath[] = [[]];
  for (const [at, step] of path.entries()) {
    if (step === '$') {
      const index = isInsert ? undefined : matched?.(path.slice(0, at).join('.'));
      if (index === undefined)
        throw new MongoError(
          'BadValue',
          'The positional operator did not find the match needed from the query.',
        );
      found = found.map((before) => [...before, String(index)]);
    } else if (isEach(step)) {
      const test = filters.get(step.slice(2, -1));
      found = found.flatMap((before) => elementsAt(document, before, step.slice(2, -1), test));
    } else found = found.map((before) => [...before, step]);
  }
  return found;
}

function elementsAt(
  document: BsonDocument,
  before: FieldPath,
  name: string,
  test: DocumentTest | undefined,
): readonly FieldPath[] {
  const list = new Place(document as MutableDocument, before).get();
  if (list === undefined)
    throw new MongoError(
      'BadValue',
      `The path '${before.join('.')}' must exist in the document in order to apply array updates.`,
    );
  if (!isArray(list))
    throw new MongoError(
      'BadValue',
      `Cannot apply array updates to non-array element ${before.at(-1)}: ${printBson(list)}`,
    );
  return list.flatMap((element, index) =>
    test === undefined || test(new Map([[name, element]])) ? [[...before, String(index)]] : [],
  );
}

/** The document that an upsert begins with: what its filter asks for by equality. */
export function upsertSeed(filter: Filter, update: Update): BsonDocument {
  const seed: MutableDocument = new Map();
  const asked = equalities(filter, update.kind === 'replacement');
  const id = asked.get('_id');
  if (id !== undefined) seed.set('_id', id);
  if (update.kind === 'replacement') return seed;
  for (const [path, value] of asked)
    if (path !== '_id') new Place(seed, splitPath(path)).set(value);
  return seed;
}
