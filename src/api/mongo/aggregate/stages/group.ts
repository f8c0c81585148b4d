/** The stage `$group`: one document per value of `_id`, in the order the values were found. */
import { type Bson, isDocument } from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import { type ReadFields, Row, type Rows, readerOf } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { roughBytes } from '../accumulators/lists.ts';
import type { Accumulator } from '../accumulators/numbers.ts';
import { type AccumulatorSpec, parseAccumulatorField } from '../accumulators/parse.ts';
import { BsonMap } from '../bson-set.ts';
import { rootScope } from '../expressions/compile.ts';
import { fieldsRead } from '../expressions/fields-read.ts';
import type { Evaluate, Frame } from '../expressions/scope.ts';
import { runScripts } from './run-scripts.ts';
import type { Stage, StageContext, StageTable } from './stage.ts';

export const GROUP_STAGES: StageTable = {
  $group: { parse: parseGroup },
  $sortByCount: { parse: sortByCount },
};

/** Bytes that the values of all groups may have together (documented). */
const BYTES_MAX = 100 * 1024 * 1024;

/** Operators that keep every value. */
const KEEPING = ['$push', '$concatArrays', '$median', '$percentile'];

function keepsEverything(accumulator: Bson | undefined): boolean {
  return isDocument(accumulator) && KEEPING.some((name) => accumulator.has(name));
}

interface Grouping {
  /** For each field, whether all its values are kept. */
  readonly isKept: readonly boolean[];
  /** As much of a document as the expressions read. */
  readonly read: ReadFields;
  readonly id: Evaluate;
  readonly fields: readonly (readonly [string, AccumulatorSpec])[];
}

function parseGroup(sent: Bson, { expressions }: StageContext): Stage {
  if (!isDocument(sent))
    throw new MongoError('Location15947', "a group's fields must be specified in an object");
  const scope = rootScope({ ...expressions, isCompiledGroup: true });
  const id = sent.get('_id');
  if (id === undefined)
    throw new MongoError('Location15955', 'a group specification must include an _id');
  checkInclusions(id);
  const fields = [...sent]
    .filter(([name]) => name !== '_id')
    .map(([name, value]) => [name, parseAccumulatorField(name, value, scope)] as const);
  const grouping = {
    id: scope.compile(id),
    fields,
    isKept: fields.map(([name]) => keepsEverything(sent.get(name))),
    read: readerOf(fieldsRead(sent)),
  };
  return (rows) => group(rows, grouping);
}

/** A document of `_id` computes; it does not include. */
function checkInclusions(id: Bson): void {
  if (!isDocument(id) || id.size === 0) return;
  const names = [...id.keys()];
  if (names.some((name) => name.startsWith('$'))) return;
  for (const value of id.values())
    if (typeof value === 'boolean' || isNumber(value))
      throw new MongoError('Location17390', '$group does not support inclusion-style expressions');
}

export async function* group(rows: Rows, { id, fields, isKept, read }: Grouping): Rows {
  const groups = new BsonMap<readonly Accumulator[]>();
  const frame: Frame = [];
  let bytes = 0;
  const specs = fields.map(([, spec]) => spec);
  for await (const batch of rows) {
    for (const row of batch) {
      frame[0] = read(row);
      const key = id(frame) ?? null;
      let accumulators = groups.get(key);
      if (accumulators === undefined) {
        const own: Frame = [isDocument(key) ? key : new Map([['_id', key]])];
        accumulators = specs.map((spec) => spec.start(own));
        groups.set(key, accumulators);
      }
      for (let at = 0; at < specs.length; at++) {
        const value = (specs[at] as AccumulatorSpec).argument(frame);
        if (isKept[at] === true && value !== undefined) bytes += roughBytes(value);
        (accumulators[at] as Accumulator).add(value);
      }
      if (bytes > BYTES_MAX)
        throw new MongoError(
          'QueryExceededMemoryLimitNoDiskUseAllowed',
          'Exceeded memory limit for $group, but did not opt in to external sorting.',
        );
    }
    await runScripts(specs, false);
  }
  await runScripts(specs, true);
  yield* groupRows(groups, fields);
}

/** Groups of one batch of results. */
const GROUPS_AT_ONCE = 1000;

async function* groupRows(
  groups: BsonMap<readonly Accumulator[]>,
  fields: Grouping['fields'],
): Rows {
  let made: Row[] = [];
  for (const { key, value } of groups.entries()) {
    const document = new Map<string, Bson>([['_id', key]]);
    for (let at = 0; at < fields.length; at++) {
      const result = (value[at] as Accumulator).result();
      if (result !== undefined) document.set((fields[at] as readonly [string, unknown])[0], result);
    }
    made.push(Row.of(document));
    if (made.length === GROUPS_AT_ONCE) {
      yield made;
      made = [];
    }
  }
  if (made.length > 0) yield made;
}

function sortByCount(argument: Bson, context: StageContext): Stage {
  const isOperator = isDocument(argument) && [...argument.keys()][0]?.startsWith('$') === true;
  const isPath = typeof argument === 'string' && argument.startsWith('$');
  if (isDocument(argument) && !isOperator)
    throw new MongoError(
      'Location40147',
      'the sortByCount field must be defined as a $-prefixed path or an expression inside an object',
    );
  if (typeof argument === 'string' && !isPath)
    throw new MongoError(
      'Location40148',
      'the sortByCount field must be defined as a $-prefixed path or an expression inside an object',
    );
  if (!isPath && !isOperator)
    throw new MongoError(
      'Location40149',
      'the sortByCount field must be specified as a string or as an object',
    );
  return context.parse(
    [
      new Map<string, Bson>([
        [
          '$group',
          new Map<string, Bson>([
            ['_id', argument],
            ['count', new Map([['$sum', 1]])],
          ]),
        ],
      ]),
      new Map<string, Bson>([['$sort', new Map([['count', -1]])]]),
    ],
    context,
  );
}
