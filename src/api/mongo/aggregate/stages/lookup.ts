/** `$lookup`: documents of another collection beside each document, by equal fields, by a pipeline, or both. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import type { Namespace } from '../../collections/namespace.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { carrierOf } from '../../metadata/metadata-scope.ts';
import { someAt } from '../../query/path.ts';
import { keyTexts } from '../bson-set.ts';
import type { CompareValues } from '../collated-keys.ts';
import { rootScope } from '../expressions/compile.ts';
import { checkVariableName, parseFieldPath, valueAtPath } from '../expressions/field-path.ts';
import { type Evaluate, type Frame, refuseFailing, type Variable } from '../expressions/scope.ts';
import { collect } from './collect.ts';
import { parseFrom } from './from.ts';
import { withValue } from './simple.ts';
import { nested, type PipelineHost, type Stage, type StageContext } from './stage.ts';

interface Lookup {
  readonly from: Namespace;
  /** The document with what was found for it. */
  rowOf(document: BsonDocument, found: readonly BsonDocument[]): Row;
  readonly local: readonly string[] | undefined;
  readonly foreign: readonly string[] | undefined;
  readonly variables: readonly (readonly [Variable, Evaluate])[];
  readonly pipeline: readonly Bson[];
  readonly compare: CompareValues;
  /** The pipeline with another filter in front. */
  readonly run: (filter?: BsonDocument) => Rows;
}

const OPTIONS = new Set([
  'from',
  'as',
  'localField',
  'foreignField',
  'let',
  'pipeline',
  '_internalCollation',
  '_internalUnwind',
]);

export function parseLookup(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'FailedToParse',
      `the $lookup specification must be an Object, found ${bsonTypeOf(argument)}`,
    );
  const sent = argument.get('pipeline');
  const makesOwn = isArray(sent) && isDocument(sent[0]) && sent[0].has('$documents');
  if (!argument.has('from') && !makesOwn)
    throw new MongoError('FailedToParse', "must specify 'from' field for a $lookup");
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('IDLUnknownField', `BSON field '$lookup.${name}' is an unknown field.`);
  const lookup = parseOptions(argument, context);
  return (rows) => joined(rows, lookup, context.host);
}

function text(argument: BsonDocument, name: string): string | undefined {
  const value = argument.get(name);
  if (value === undefined || typeof value === 'string') return value;
  if (value === null) return undefined;
  throw new MongoError(
    'TypeMismatch',
    `$lookup argument '${name}' must be a string, found ${bsonTypeOf(value)}`,
  );
}

function parseOptions(argument: BsonDocument, context: StageContext): Lookup {
  const as = text(argument, 'as');
  // An empty name says that no fields are compared.
  const local = text(argument, 'localField') || undefined;
  const foreign = text(argument, 'foreignField') || undefined;
  const pipeline = argument.get('pipeline');
  if (pipeline !== undefined && !isArray(pipeline))
    throw new MongoError('TypeMismatch', "'pipeline' option must be specified as an array");
  if (as === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$lookup.as' is missing but a required field",
    );
  if (pipeline === undefined && (argument.get('let') ?? null) !== null)
    throw new MongoError(
      'FailedToParse',
      "$lookup with a let argument must also specify 'pipeline'",
    );
  if (
    (local === undefined) !== (foreign === undefined) ||
    (pipeline === undefined && local === undefined)
  )
    throw new MongoError(
      'FailedToParse',
      "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    );
  const isDocuments = isDocument(pipeline?.[0]) && pipeline[0].has('$documents');
  if (isDocuments && argument.has('from'))
    throw new MongoError(
      'InvalidNamespace',
      "$lookup of $documents makes its own documents and must not have a 'from'",
    );
  const from = parseFrom(argument.get('from'), context, isDocuments, '$lookup');
  const { variables, inner } = letVariables(argument.get('let'), context);
  const stages = pipeline ?? [];
  const path = parseFieldPath(as);
  return {
    from,
    rowOf: (document, found) =>
      Row.of(carrierOf(context.expressions)(withValue(document, path, 0, found), document)),
    local: local === undefined ? undefined : parseFieldPath(local),
    foreign: foreign === undefined ? undefined : parseFieldPath(foreign),
    variables,
    pipeline: stages,
    compare: context.expressions.compare,
    run: context.host.prepare(from, stages, nested(inner, { namespace: from, isLookup: true })),
  };
}

/** The variables of `let`, and the context in which the inner pipeline sees them. */
export function letVariables(
  sent: Bson | undefined,
  context: StageContext,
): {
  readonly variables: readonly (readonly [Variable, Evaluate])[];
  readonly inner: StageContext;
} {
  if (sent === undefined || sent === null) return { variables: [], inner: context };
  if (!isDocument(sent))
    throw new MongoError(
      'TypeMismatch',
      `$lookup argument 'let' must be an object, is type ${bsonTypeOf(sent)}`,
    );
  const scope = rootScope(context.expressions);
  const cells = new Map<string, Variable>(context.expressions.variables);
  const variables: (readonly [Variable, Evaluate])[] = [];
  for (const [name, value] of sent) {
    checkVariableName(name);
    const cell: Variable = { value: undefined };
    const compiled = scope.compile(value);
    refuseFailing(compiled);
    variables.push([cell, compiled]);
    cells.set(name, cell);
  }
  return {
    variables,
    inner: { ...context, expressions: { ...context.expressions, variables: cells } },
  };
}

/** Documents that rows may have found together before they are handed on: each row may have found millions. */
const FOUND_MAX = 100_000;

async function* joined(rows: Rows, lookup: Lookup, host: PipelineHost): Rows {
  const { local, foreign, variables, pipeline } = lookup;
  const isPlain = local !== undefined && foreign !== undefined && pipeline.length === 0;
  let same: readonly BsonDocument[] | undefined;
  const frame: Frame = [];
  for await (const batch of rows) {
    if (isPlain) {
      yield* joinBatch(batch, lookup, local, foreign);
      continue;
    }
    let made: Row[] = [];
    let count = 0;
    for (const { document } of batch) {
      frame[0] = document;
      for (const [variable, value] of variables) variable.value = value(frame);
      const isFixed = variables.length === 0 && local === undefined;
      const found =
        same ??
        (await collect(
          local === undefined || foreign === undefined
            ? lookup.run()
            : lookup.run(equalFilter(localValue(document, local), foreign)),
          '$lookup',
        ));
      if (isFixed) same = found;
      made.push(lookup.rowOf(document, found));
      count += found.length;
      if (count < FOUND_MAX) continue;
      yield made;
      made = [];
      count = 0;
      await host.yieldToOthers();
    }
    if (made.length > 0) yield made;
  }
}

/** The local value; a number in the path is the place in an array as well as the name of a field. */
function localValue(document: BsonDocument, path: readonly string[]): Bson | undefined {
  const value = valueAtPath(document, path, 0);
  const isPlace = path.some((step, at) => at > 0 && /^\d+$/.test(step));
  if (!isPlace || !isArray(value) || value.length > 0) return value;
  const found: Bson[] = [];
  someAt(document, path, (one) => {
    if (one !== undefined) found.push(one);
    return false;
  });
  return found.length === 1 ? found[0] : found;
}

/** The values that a local field looks for: the elements of an array, null where there is none. */
function wanted(value: Bson | undefined): readonly Bson[] {
  // An empty array looks for nothing, which null and missing fields have.
  if (isArray(value)) return value.length === 0 ? [null] : [...value, value as Bson];
  return [value ?? null];
}

function equalFilter(value: Bson | undefined, foreign: readonly string[]): BsonDocument {
  return equalToSome(wanted(value), foreign.join('.'));
}

/** A filter on the values that a field equals. A pattern in a list would match, not equal. */
function equalToSome(values: readonly Bson[], name: string): BsonDocument {
  const hasPattern = values.some(
    (value) => value instanceof Extended && value.payload.kind === 'regex',
  );
  if (!hasPattern) return new Map([[name, new Map([['$in', values]])]]);
  const equal = (value: Bson): BsonDocument => new Map([[name, new Map([['$eq', value]])]]);
  return new Map([['$or', values.map(equal)]]);
}

/** One search for all documents of a batch, by index where the foreign field has one. */
async function* joinBatch(
  batch: readonly Row[],
  lookup: Lookup,
  local: readonly string[],
  foreign: readonly string[],
): Rows {
  const values = new Map<string, Bson>();
  const textOf = keyTexts(lookup.compare);
  const wants = batch.map(({ document }) => {
    const own = wanted(localValue(document, local));
    return own.map((value) => {
      const key = textOf(value);
      values.set(key, value);
      return key;
    });
  });
  const found = await foreignByKey(values, textOf, lookup, foreign);
  let made: Row[] = [];
  let count = 0;
  for (const [at, { document }] of batch.entries()) {
    const matches = new Set<BsonDocument>();
    for (const key of wants[at] as readonly string[])
      for (const match of found.get(key) ?? []) matches.add(match);
    const ordered = [...matches].sort((a, b) => (orders.get(a) ?? 0) - (orders.get(b) ?? 0));
    made.push(lookup.rowOf(document, ordered));
    count += ordered.length;
    if (count < FOUND_MAX) continue;
    yield made;
    made = [];
    count = 0;
  }
  if (made.length > 0) yield made;
}

/** The order in which foreign documents were found. */
const orders = new WeakMap<BsonDocument, number>();

async function foreignByKey(
  wantedKeys: ReadonlyMap<string, Bson>,
  textOf: (value: Bson) => string,
  lookup: Lookup,
  foreign: readonly string[],
): Promise<ReadonlyMap<string, readonly BsonDocument[]>> {
  const found = new Map<string, BsonDocument[]>();
  const list = [...wantedKeys.values()];
  if (list.length === 0) return found;
  const filter = equalToSome(list, foreign.join('.'));
  let order = 0;
  for (const document of await collect(lookup.run(filter), '$lookup')) {
    orders.set(document, order++);
    const keys = new Set<string>();
    someAt(document, foreign, (value) => {
      keys.add(textOf(value ?? null));
      return false;
    });
    for (const key of keys) {
      if (!wantedKeys.has(key)) continue;
      const kept = found.get(key);
      if (kept === undefined) found.set(key, [document]);
      else kept.push(document);
    }
  }
  return found;
}
