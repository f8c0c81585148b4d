/** The stage `$group`: one document per value of `_id`, in the order the values were found. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import { roughBytes } from '../../bson/rough-bytes.ts';
import type { DocumentFold } from '../../documents/folds.ts';
import { type ReadFields, Row, type Rows, readerOf } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import type { Accumulator } from '../accumulators/numbers.ts';
import { type AccumulatorSpec, parseAccumulatorField } from '../accumulators/parse.ts';
import { BsonMap } from '../bson-set.ts';
import type { CompareValues } from '../collated-keys.ts';
import { rootScope } from '../expressions/compile.ts';
import { fieldsRead } from '../expressions/fields-read.ts';
import { constantOf, type Evaluate, type Frame } from '../expressions/scope.ts';
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

export interface Grouping {
  /** For each field, whether all its values are kept. */
  readonly isKept: readonly boolean[];
  /** The fields of a document that the expressions read; undefined for all. */
  readonly names: ReadonlySet<string> | undefined;
  readonly id: Evaluate;
  /** The order of the collation: equal texts are one group. */
  readonly compare: CompareValues;
  readonly fields: readonly (readonly [string, AccumulatorSpec])[];
  /** True where documents are counted and not looked at. */
  readonly isCount: boolean;
}

function parseGroup(sent: Bson, context: StageContext): Stage {
  const grouping = parseGrouping(sent, context);
  return (rows) => group(rows, grouping);
}

export function parseGrouping(sent: Bson, { expressions }: StageContext): Grouping {
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
  const compiled = scope.compile(id);
  return {
    id: compiled,
    compare: expressions.compare,
    fields,
    isKept: fields.map(([name]) => keepsEverything(sent.get(name))),
    names: fieldsRead(sent),
    isCount:
      constantOf(compiled) !== undefined && fields.every(([name]) => isCounting(sent.get(name))),
  };
}

/** Whether a group only counts its documents, found without compiling it. */
export function isCountingGroup(sent: Bson): boolean {
  if (!isDocument(sent)) return false;
  return [...sent].every(([name, value]) => {
    if (name !== '_id') return isCounting(value);
    return value === null || isNumber(value) || (typeof value === 'string' && value[0] !== '$');
  });
}

/** `{ $sum: 1 }` and `{ $count: {} }`. */
function isCounting(accumulator: Bson | undefined): boolean {
  return isDocument(accumulator) && (accumulator.get('$sum') === 1 || accumulator.has('$count'));
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

async function* group(rows: Rows, grouping: Grouping): Rows {
  const fold = new GroupFold(grouping);
  const specs = grouping.fields.map(([, spec]) => spec);
  for await (const batch of rows) {
    for (const row of batch) fold.add(row);
    await runScripts(specs, false);
  }
  await runScripts(specs, true);
  yield* fold.rows();
}

/** The groups of the documents so far. */
export class GroupFold implements DocumentFold {
  readonly #groups: BsonMap<readonly Accumulator[]>;
  readonly #grouping: Grouping;
  readonly #specs: readonly AccumulatorSpec[];
  readonly #read: ReadFields;
  readonly #frame: Frame = [];
  #bytes = 0;
  readonly addMatching: ((count: number) => void) | undefined;

  constructor(grouping: Grouping) {
    this.#grouping = grouping;
    this.#groups = new BsonMap(grouping.compare);
    this.#specs = grouping.fields.map(([, spec]) => spec);
    this.#read = readerOf(grouping.names);
    this.addMatching = grouping.isCount ? (count) => this.#addCount(count) : undefined;
  }

  add(row: Row): boolean {
    this.addDocument(this.#read(row));
    return true;
  }

  /** @param document - with the fields that the expressions read at least. */
  addDocument(document: BsonDocument): void {
    const { isKept } = this.#grouping;
    const specs = this.#specs;
    this.#frame[0] = document;
    const accumulators = this.#accumulators();
    for (let at = 0; at < specs.length; at++) {
      const value = (specs[at] as AccumulatorSpec).argument(this.#frame);
      if (isKept[at] === true && value !== undefined) this.#bytes += roughBytes(value);
      (accumulators[at] as Accumulator).add(value);
    }
    if (this.#bytes > BYTES_MAX)
      throw new MongoError(
        'QueryExceededMemoryLimitNoDiskUseAllowed',
        'Exceeded memory limit for $group, but did not opt in to external sorting.',
      );
  }

  /** Adds so many documents to the one group. */
  #addCount(count: number): void {
    if (count > 0) for (const accumulator of this.#accumulators()) accumulator.add(count);
  }

  /** Those of the document in the frame. */
  #accumulators(): readonly Accumulator[] {
    const key = this.#grouping.id(this.#frame) ?? null;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const own: Frame = [isDocument(key) ? key : new Map([['_id', key]])];
    const made = this.#specs.map((spec) => spec.start(own));
    this.#groups.set(key, made);
    return made;
  }

  rows(): Rows {
    return groupRows(this.#groups, this.#grouping.fields);
  }
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
  return context.parse(sortByCountStages(argument), context);
}

/** The stages that it is short for. */
export function sortByCountStages(argument: Bson): readonly Bson[] {
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
  return [
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
  ];
}
