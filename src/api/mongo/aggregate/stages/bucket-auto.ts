/** `$bucketAuto`: sorts by a value and cuts into buckets of about the same number of documents. */

import { type Pause, sortInSlices } from '../../../../query/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Double,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNaNumber, isNumber, wholeInt32 } from '../../bson/arithmetic.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { type AccumulatorSpec, parseAccumulatorField } from '../accumulators/parse.ts';
import type { CompareValues } from '../collated-keys.ts';
import { rootScope } from '../expressions/compile.ts';
import type { Evaluate, Frame } from '../expressions/scope.ts';
import { isGroupExpression } from './bucket.ts';
import { collect } from './collect.ts';
import { type Rounder, rounder } from './granularity.ts';
import { runScripts } from './run-scripts.ts';
import type { Stage, StageContext } from './stage.ts';

interface BucketAuto {
  readonly groupBy: Evaluate;
  readonly buckets: number;
  readonly compare: CompareValues;
  readonly fields: readonly (readonly [string, AccumulatorSpec])[];
  readonly round: Rounder | undefined;
}

const OPTIONS = new Set(['groupBy', 'buckets', 'output', 'granularity']);

export function parseBucketAuto(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'Location40240',
      `The argument to $bucketAuto must be an object, but found type: ${bsonTypeOf(argument)}.`,
    );
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError('Location40245', `Unrecognized option to $bucketAuto: ${name}.`);
  const groupBy = argument.get('groupBy');
  if (groupBy !== undefined && !isGroupExpression(groupBy))
    throw new MongoError(
      'Location40239',
      "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object",
    );
  const buckets = bucketsOf(argument.get('buckets'));
  const output = argument.get('output');
  if (output !== undefined && !isDocument(output))
    throw new MongoError(
      'Location40244',
      `The $bucketAuto 'output' field must be an object, but found type: ${bsonTypeOf(output)}.`,
    );
  const granularity = argument.get('granularity');
  if (granularity !== undefined && typeof granularity !== 'string')
    throw new MongoError(
      'Location40261',
      `The $bucketAuto 'granularity' field must be a string, but found type: ${bsonTypeOf(granularity)}.`,
    );
  const round = granularity === undefined ? undefined : rounder(granularity);
  if (groupBy === undefined || buckets === undefined)
    throw new MongoError(
      'Location40246',
      "$bucketAuto requires 'groupBy' and 'buckets' to be specified",
    );
  const scope = rootScope(context.expressions);
  const fields = (
    output === undefined || output.size === 0
      ? [['count', new Map([['$sum', 1]])] as const]
      : [...output]
  ).map(([name, sent]) => {
    if (name === '_id')
      throw new MongoError('Location15948', "a group's _id may only be specified once");
    return [name, parseAccumulatorField(name, sent as Bson, scope)] as const;
  });
  const { compare } = context.expressions;
  const parsed = { groupBy: scope.compile(groupBy), buckets, compare, fields, round };
  return (rows) => bucketAuto(rows, parsed, context.host.yieldToOthers);
}

function bucketsOf(sent: Bson | undefined): number | undefined {
  if (sent === undefined) return undefined;
  if (!isNumber(sent))
    throw new MongoError(
      'Location40241',
      `The $bucketAuto 'buckets' field must be a numeric value, but found type: ${bsonTypeOf(sent)}.`,
    );
  const buckets = wholeInt32(sent);
  if (buckets === undefined)
    throw new MongoError(
      'Location40242',
      `The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found ${doubleOf(sent)}.`,
    );
  if (buckets <= 0)
    throw new MongoError(
      'Location40243',
      `The $bucketAuto 'buckets' field must be greater than 0, but found: ${buckets}.`,
    );
  return buckets;
}

interface Entry {
  readonly value: Bson;
  readonly document: BsonDocument;
}

async function* bucketAuto(rows: Rows, parsed: BucketAuto, pause: Pause): Rows {
  const frame: Frame = [];
  const entries: Entry[] = [];
  for (const document of await collect(rows, '$bucketAuto')) {
    frame[0] = document;
    const value = parsed.groupBy(frame) ?? null;
    if (parsed.round !== undefined) checkGranular(value);
    entries.push({ value, document });
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  const ordered = await sortInSlices(entries, (a, b) => parsed.compare(a.value, b.value), pause);
  const made: (() => BsonDocument)[] = [];
  for (const next of cut(ordered, parsed)) {
    made.push(next);
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  await runScripts(
    parsed.fields.map(([, spec]) => spec),
    true,
  );
  if (made.length > 0) yield made.map((finish) => Row.of(finish()));
}

function checkGranular(value: Bson): void {
  if (!isNumber(value))
    throw new MongoError(
      'Location40258',
      `$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with type: ${bsonTypeOf(value)}`,
    );
  if (isNaNumber(value))
    throw new MongoError(
      'Location40259',
      "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN",
    );
  if (doubleOf(value) < 0)
    throw new MongoError(
      'Location40260',
      "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number",
    );
}

/** The buckets; each is a function that has the document when all values are accumulated. */
function* cut(entries: readonly Entry[], parsed: BucketAuto): Generator<() => BsonDocument> {
  const { buckets, round, compare } = parsed;
  const size = Math.max(1, Math.round(entries.length / buckets));
  let count = 0;
  let at = 0;
  let previousMax: Bson | undefined;
  while (at < entries.length && count < buckets) {
    const isLast = count === buckets - 1;
    let stop = isLast ? entries.length : Math.min(entries.length, at + size);
    let max = (entries[stop - 1] as Entry).value;
    let min = (entries[at] as Entry).value;
    if (round === undefined) {
      while (stop < entries.length && compare((entries[stop] as Entry).value, max) === 0) stop += 1;
      if (stop < entries.length) max = (entries[stop] as Entry).value;
    } else {
      min = previousMax ?? new Double(round.down(doubleOf(min)));
      const limit = round.up(doubleOf(max));
      while (stop < entries.length && doubleOf((entries[stop] as Entry).value) < limit) stop += 1;
      max = new Double(limit);
      previousMax = max;
    }
    yield bucket(entries.slice(at, stop), min, max, parsed);
    count += 1;
    at = stop;
  }
}

function bucket(
  entries: readonly Entry[],
  min: Bson,
  max: Bson,
  { fields }: BucketAuto,
): () => BsonDocument {
  const id = new Map<string, Bson>([
    ['min', min],
    ['max', max],
  ]);
  const frame: Frame = [];
  const accumulators = fields.map(([name, spec]) => {
    const accumulator = spec.start([id]);
    for (const entry of entries) {
      frame[0] = entry.document;
      accumulator.add(spec.argument(frame));
    }
    return [name, accumulator] as const;
  });
  return () => {
    const document = new Map<string, Bson>([['_id', id]]);
    for (const [name, accumulator] of accumulators) {
      const result = accumulator.result();
      if (result !== undefined) document.set(name, result);
    }
    return document;
  };
}
