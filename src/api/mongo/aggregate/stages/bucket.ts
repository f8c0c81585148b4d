/** `$bucket`: groups by intervals; the same as `$group` with a `$switch`, then a sort. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
  typeRank,
} from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { rootScope } from '../expressions/compile.ts';
import { constantOf, type Scope } from '../expressions/scope.ts';
import { parseBucketAuto } from './bucket-auto.ts';
import type { Stage, StageContext, StageTable } from './stage.ts';

export const BUCKET_STAGES: StageTable = {
  $bucket: { parse: parseBucket },
  $bucketAuto: { parse: parseBucketAuto },
};

const OPTIONS = new Set(['groupBy', 'boundaries', 'default', 'output']);

/** A path or an operator: constants group nothing. */
export function isGroupExpression(sent: Bson | undefined): boolean {
  if (typeof sent === 'string') return sent.startsWith('$');
  return isDocument(sent);
}

function parseBucket(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40201',
      `Argument to $bucket stage must be an object, but found type: ${bsonTypeOf(argument)}.`,
    );
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('Location40197', `Unrecognized option to $bucket: ${name}.`);
  const scope = rootScope(context.expressions);
  const groupBy = argument.get('groupBy');
  if (groupBy !== undefined && !isGroupExpression(groupBy))
    throw new MongoError(
      'Location40202',
      "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression",
    );
  const sentBoundaries = argument.get('boundaries');
  const boundaries = sentBoundaries === undefined ? [] : boundariesOf(sentBoundaries, scope);
  const output = argument.get('output');
  if (output !== undefined && !isDocument(output))
    throw new MongoError(
      'Location40196',
      `The $bucket 'output' field must be an object, but found type: ${bsonTypeOf(output)}.`,
    );
  const other = argument.get('default');
  if (other !== undefined) checkDefault(other, boundaries, scope);
  if (groupBy === undefined || sentBoundaries === undefined)
    throw new MongoError(
      'Location40198',
      "$bucket requires 'groupBy' and 'boundaries' to be specified.",
    );
  return context.parse(asGroup(groupBy, boundaries, other, output), context);
}

function boundariesOf(sent: Bson, scope: Scope): readonly Bson[] {
  if (!isArray(sent))
    throw new MongoError(
      'Location40200',
      `The $bucket 'boundaries' field must be an array, but found type: ${bsonTypeOf(sent)}.`,
    );
  const values = sent.map((part) => {
    const known = constantOf(scope.compile(part));
    if (known === undefined)
      throw new MongoError(
        'Location40191',
        "The $bucket 'boundaries' field must be an array of constant expressions.",
      );
    return known.value ?? null;
  });
  if (values.length < 2)
    throw new MongoError(
      'Location40192',
      `The $bucket 'boundaries' field must have at least 2 values, but found ${values.length} value(s).`,
    );
  for (const [at, value] of values.entries()) {
    if (at === 0) continue;
    const before = values[at - 1];
    if (typeRank(before) !== typeRank(value))
      throw new MongoError(
        'Location40193',
        "All values in the the 'boundaries' option to $bucket must have the same type.",
      );
    if (scope.context.compare(before, value) >= 0)
      throw new MongoError(
        'Location40194',
        "The 'boundaries' option to $bucket must be sorted, but elements are out of order.",
      );
  }
  return values;
}

function checkDefault(sent: Bson, boundaries: readonly Bson[], scope: Scope): void {
  const known = constantOf(scope.compile(sent));
  if (known === undefined)
    throw new MongoError(
      'Location40195',
      "The $bucket 'default' field must be a constant expression.",
    );
  const value = known.value ?? null;
  const [lowest, highest] = [boundaries[0], boundaries[boundaries.length - 1]];
  if (lowest === undefined || typeRank(value) !== typeRank(lowest)) return;
  const { compare } = scope.context;
  if (compare(value, lowest) >= 0 && compare(value, highest) < 0)
    throw new MongoError(
      'Location40199',
      "The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
    );
}

function asGroup(
  groupBy: Bson,
  boundaries: readonly Bson[],
  other: Bson | undefined,
  output: BsonDocument | undefined,
): readonly BsonDocument[] {
  const literal = (value: Bson): BsonDocument => new Map([['$literal', value]]);
  const branches = boundaries.slice(0, -1).map(
    (lower, at): BsonDocument =>
      new Map<string, Bson>([
        [
          'case',
          new Map<string, Bson>([
            [
              '$and',
              [
                new Map<string, Bson>([['$gte', [groupBy, literal(lower)]]]),
                new Map<string, Bson>([['$lt', [groupBy, literal(boundaries[at + 1] as Bson)]]]),
              ],
            ],
          ]),
        ],
        ['then', literal(lower)],
      ]),
  );
  const choice = new Map<string, Bson>([['branches', branches]]);
  if (other !== undefined) choice.set('default', other);
  const fields: [string, Bson][] =
    output === undefined ? [['count', new Map([['$sum', 1]])]] : [...output];
  for (const [name] of fields)
    if (name === '_id')
      throw new MongoError('Location15948', "a group's _id may only be specified once");
  return [
    new Map<string, Bson>([
      ['$group', new Map<string, Bson>([['_id', new Map([['$switch', choice]])], ...fields])],
    ]),
    new Map<string, Bson>([['$sort', new Map([['_id', 1]])]]),
  ];
}
