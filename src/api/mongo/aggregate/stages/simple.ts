/** Stages that look at one document at a time, or only count them. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber, wholeCount } from '../../bson/arithmetic.ts';
import {
  limited,
  matching,
  projected,
  Row,
  type Rows,
  skipping,
  sorted,
} from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { addMetadata } from '../../metadata/metadata.ts';
import { carrierOf } from '../../metadata/metadata-scope.ts';
import { valueAt } from '../../query/path.ts';
import { Sort } from '../../query/sort.ts';
import { compileExpression } from '../expressions/compile.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { ExpressionContext } from '../expressions/scope.ts';
import { compileAddFields } from './add-fields.ts';
import { compileMatch } from './match.ts';
import { compileProject, compileUnset } from './project.ts';
import { parseStageSort } from './sort.ts';
import type { Stage, StageContext, StageTable } from './stage.ts';

type Change = (document: BsonDocument) => BsonDocument;

/** Stages that map each document to one; pipelines of updates may have these only. */
export function compileChange(
  name: string,
  argument: Bson,
  context: ExpressionContext,
): Change | undefined {
  switch (name) {
    case '$addFields':
    case '$set':
      return compileAddFields(argument, context, name);
    case '$project':
      return compileProject(argument, context);
    case '$unset':
      return compileUnset(argument);
    case '$replaceRoot':
      return compileReplaceRoot(argument, context);
    case '$replaceWith':
      return replaceBy(argument, context, '$replaceWith');
    default:
      return undefined;
  }
}

function change(argument: Bson, { expressions }: StageContext, name: string): Stage {
  const apply = compileChange(name, argument, expressions) as Change;
  return (rows) => projected(rows, apply, carrierOf(expressions));
}

function compileReplaceRoot(argument: Bson, context: ExpressionContext): Change {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40229',
      `expected an object as specification for $replaceRoot stage, got ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (name !== 'newRoot')
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '$replaceRoot.${name}' is an unknown field.`,
      );
  const sent = argument.get('newRoot');
  if (sent === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$replaceRoot.newRoot' is missing but a required field",
    );
  return replaceBy(sent, context, '$replaceRoot');
}

function replaceBy(sent: Bson, context: ExpressionContext, name: string): Change {
  const evaluate = compileExpression(sent, context);
  return (document) => {
    const made = evaluate(document);
    if (isDocument(made)) return made;
    throw new MongoError(
      'Location40228',
      `'${name === '$replaceRoot' ? 'newRoot' : 'replacement document'}' expression must evaluate to an object, ` +
        `but resulting value was: ${made === undefined ? 'MISSING' : bsonTypeOf(made)}`,
    );
  };
}

export const SIMPLE_STAGES: StageTable = {
  $addFields: { parse: change },
  $set: { parse: change },
  $project: { parse: change },
  $unset: { parse: change },
  $replaceRoot: { parse: change },
  $replaceWith: { parse: change },
  $match: { parse: match },
  $sort: { parse: sort },
  $limit: { parse: limit },
  $skip: { parse: skip },
  $count: { parse: countRows },
  $documents: {
    parse: documents,
    position: 'first',
    isSource: true,
    scope: 'nothing',
    isBannedInFacet: true,
  },
  $sample: { parse: sample },
  $unwind: { parse: unwind },
};

function match(argument: Bson, { expressions }: StageContext): Stage {
  const test = compileMatch(argument, expressions);
  return (rows) => matching(rows, test);
}

function sort(argument: Bson, { expressions, wanted, host }: StageContext): Stage {
  const parts = parseStageSort(argument, expressions);
  const { yieldToOthers: pause, memory } = host;
  const { metadata } = expressions;
  return (rows) => {
    const by = new Sort(parts, expressions.compare);
    const keepsRows = metadata?.wants() === true;
    const found = sorted(rows, by, { wanted, pause, memory, keepsRows });
    return metadata?.wants('sortKey') === true ? withSortKeys(found, by) : found;
  };
}

async function* withSortKeys(rows: Rows, by: Sort): Rows {
  for await (const batch of rows) {
    for (const { document } of batch)
      addMetadata(
        document,
        'sortKey',
        by.keyOf(document).map((part) => part ?? null),
      );
    yield batch;
  }
}

function limitOf(argument: Bson): number {
  const count = wholeCount(argument);
  if (count === undefined || count < 0)
    throw new MongoError(
      'Location5107201',
      `invalid argument to $limit stage: Expected a non-negative integer in: $limit: ${isNumber(argument) ? doubleOf(argument) : bsonTypeOf(argument)}`,
    );
  if (count === 0) throw new MongoError('Location15958', 'the limit must be positive');
  return count;
}

function limit(argument: Bson): Stage {
  const count = limitOf(argument);
  return (rows) => limited(rows, count);
}

function skipOf(argument: Bson): number {
  const count = wholeCount(argument);
  if (count === undefined || count < 0)
    throw new MongoError(
      'Location5107200',
      `invalid argument to $skip stage: Expected a non-negative number in: $skip: ${isNumber(argument) ? doubleOf(argument) : bsonTypeOf(argument)}`,
    );
  return count;
}

function skip(argument: Bson): Stage {
  const count = skipOf(argument);
  return (rows) => skipping(rows, count);
}

function countRows(argument: Bson): Stage {
  const name = countName(argument);
  return (rows) => countOf(rows, name);
}

/** The field of a `$count`. */
export function countName(argument: Bson): string {
  if (typeof argument !== 'string')
    throw new MongoError('Location40156', 'the count field must be a non-empty string');
  if (argument === '')
    throw new MongoError('Location40157', 'the count field must be a non-empty string');
  if (argument.startsWith('$'))
    throw new MongoError('Location40158', 'the count field cannot be a $-prefixed path');
  if (argument.includes('\0'))
    throw new MongoError('Location40159', 'the count field cannot contain a null byte');
  if (argument.includes('.'))
    throw new MongoError('Location40160', "the count field cannot contain '.'");
  if (argument === '_id')
    throw new MongoError('Location9039800', "the count field cannot be '_id'");
  return argument;
}

async function* countOf(rows: Rows, name: string): Rows {
  let count = 0;
  for await (const batch of rows) count += batch.length;
  if (count > 0) yield [Row.of(new Map([[name, count]]))];
}

function documents(argument: Bson, { expressions, namespace }: StageContext): Stage {
  void namespace;
  const evaluate = compileExpression(argument, expressions);
  const made = evaluate(new Map());
  if (!isArray(made))
    throw new MongoError(
      'Location5858203',
      `an array is expected in $documents, found ${made === undefined ? 'missing' : bsonTypeOf(made)}`,
    );
  for (const document of made)
    if (!isDocument(document))
      throw new MongoError(
        'Location40228',
        `'newRoot' expression must evaluate to an object, but resulting value was of type ${bsonTypeOf(document)}`,
      );
  return () => rowsOf(made as readonly BsonDocument[]);
}

export async function* rowsOf(made: readonly BsonDocument[]): Rows {
  if (made.length > 0) yield made.map((document) => Row.of(document));
}

function sample(argument: Bson): Stage {
  if (!isDocument(argument))
    throw new MongoError('Location28745', 'the $sample stage specification must be an object');
  for (const [name, value] of argument) {
    if (name !== 'size')
      throw new MongoError('Location28748', `unrecognized option to $sample: ${name}`);
    if (!isNumber(value))
      throw new MongoError('Location28746', 'size argument to $sample must be a number');
  }
  const sent = argument.get('size');
  if (sent === undefined)
    throw new MongoError('Location28749', '$sample stage must specify a size');
  const size = wholeOf(sent);
  if (!(size > 0))
    throw new MongoError('Location28747', 'size argument to $sample must be a positive integer');
  return (rows) => sampled(rows, size);
}

/** Each document has the same chance: the reservoir replaces its members at random. */
async function* sampled(rows: Rows, size: number): Rows {
  const reservoir: Row[] = [];
  let seen = 0;
  for await (const batch of rows)
    for (const row of batch) {
      seen += 1;
      if (reservoir.length < size) reservoir.push(row);
      else {
        const at = Math.floor(Math.random() * seen);
        if (at < size) reservoir[at] = row;
      }
    }
  for (let at = reservoir.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [reservoir[at], reservoir[other]] = [reservoir[other] as Row, reservoir[at] as Row];
  }
  if (reservoir.length > 0) yield reservoir;
}

interface Unwind {
  readonly path: readonly string[];
  readonly index: readonly string[] | undefined;
  readonly keepsEmpty: boolean;
}

function unwind(argument: Bson, context: StageContext): Stage {
  const parsed = parseUnwind(argument);
  return (rows) => unwound(rows, parsed, context);
}

function parseUnwind(argument: Bson): Unwind {
  if (typeof argument !== 'string' && !isDocument(argument))
    throw new MongoError(
      'Location15981',
      `expected either a string or an object as specification for $unwind stage, got ${bsonTypeOf(argument)}`,
    );
  const options: BsonDocument = isDocument(argument) ? argument : new Map([['path', argument]]);
  let index: string | undefined;
  for (const [name, value] of options)
    if (name === 'path') {
      if (typeof value !== 'string')
        throw new MongoError(
          'Location28808',
          `expected a string as the path for $unwind stage, got ${bsonTypeOf(value)}`,
        );
    } else if (name === 'preserveNullAndEmptyArrays') {
      if (typeof value !== 'boolean')
        throw new MongoError(
          'Location28809',
          `expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got ${bsonTypeOf(value)}`,
        );
    } else if (name === 'includeArrayIndex') {
      if (typeof value !== 'string' || value === '')
        throw new MongoError(
          'Location28810',
          'expected a non-empty string for the includeArrayIndex  option to $unwind stage',
        );
      if (value.startsWith('$'))
        throw new MongoError(
          'Location28822',
          "includeArrayIndex option to $unwind stage should not be prefixed with a '$'",
        );
      index = value;
    } else throw new MongoError('Location28811', `unrecognized option to $unwind stage: ${name}`);
  const path = options.get('path');
  if (path === undefined)
    throw new MongoError('Location28812', 'no path specified to $unwind stage');
  if (!(path as string).startsWith('$'))
    throw new MongoError(
      'Location28818',
      "path option to $unwind stage should be prefixed with a '$'",
    );
  if ((path as string).includes('\0'))
    throw new MongoError('Location16419', 'field path must not contain embedded null characters');
  return {
    path: parseFieldPath((path as string).slice(1)),
    index: index === undefined ? undefined : parseFieldPath(index),
    keepsEmpty: options.get('preserveNullAndEmptyArrays') === true,
  };
}

/** Rows that an unwinding makes before it hands them on, fewer where each is a copy of many fields. */
const UNWOUND_ROWS = 1000;
const UNWOUND_FIELDS = 100_000;

async function* unwound(
  rows: Rows,
  { path, index, keepsEmpty }: Unwind,
  { host, expressions }: StageContext,
): Rows {
  const carry = carrierOf(expressions);
  for await (const batch of rows) {
    let made: Row[] = [];
    for (const row of batch) {
      const { document } = row;
      const value = valueAt(document, path);
      const whole = (changed: BsonDocument): Row =>
        Row.of(carry(index === undefined ? changed : withValue(changed, index, 0, null), document));
      const rowsMax = Math.min(UNWOUND_ROWS, UNWOUND_FIELDS / fieldsAlong(document, path));
      if (isArray(value) && value.length > 0)
        for (const [at, element] of value.entries()) {
          const changed = withValue(document, path, 0, element);
          const placed = index === undefined ? changed : withValue(changed, index, 0, BigInt(at));
          made.push(Row.of(carry(placed, document)));
          const wait = host.yieldToOthers();
          if (wait === undefined && made.length < rowsMax) continue;
          yield made;
          made = [];
          if (wait !== undefined) await wait;
        }
      else if (isArray(value)) {
        if (keepsEmpty) made.push(whole(withValue(document, path, 0, undefined)));
      } else if (value === undefined || value === null) {
        if (keepsEmpty) made.push(whole(document));
      } else made.push(whole(document));
    }
    if (made.length > 0) yield made;
  }
}

/** Fields that a copy has to have to be changed at the path. */
function fieldsAlong(document: BsonDocument, path: readonly string[]): number {
  let fields = 1;
  let inner: Bson | undefined = document;
  for (const step of path) {
    if (!isDocument(inner)) break;
    fields += inner.size;
    inner = inner.get(step);
  }
  return fields;
}

/** Sets or removes the value at a path of documents. */
export function withValue(
  document: BsonDocument,
  path: readonly string[],
  at: number,
  value: Bson | undefined,
): BsonDocument {
  const copy = new Map(document);
  const step = path[at] as string;
  if (at < path.length - 1) {
    const inner = copy.get(step);
    copy.set(step, withValue(isDocument(inner) ? inner : new Map(), path, at + 1, value));
  } else if (value === undefined) copy.delete(step);
  else copy.set(step, value);
  return copy;
}
