/** `$setWindowFields`: fields computed over the documents around each one. */

import { type Pause, sortInSlices } from '../../../../query/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { type Carry, carrierOf } from '../../metadata/metadata-scope.ts';
import { compareSortKeys, type SortPart, sortKeyOf } from '../../query/sort.ts';
import { BsonMap } from '../bson-set.ts';
import type { CompareValues } from '../collated-keys.ts';
import { rootScope } from '../expressions/compile.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { Evaluate, Scope, Frame as ValueFrame } from '../expressions/scope.ts';
import { collect } from '../stages/collect.ts';
import { withValue } from '../stages/simple.ts';
import { parseSortPattern } from '../stages/sort.ts';
import type { Stage, StageContext } from '../stages/stage.ts';
import { accumulated, specOf } from './fold.ts';
import { type Frame, parseFrame, windowsOf } from './frame.ts';
import { FRAMELESS, RANKINGS, WINDOW_FUNCTIONS } from './functions.ts';
import type { PartitionFunction } from './partition.ts';

interface Output {
  readonly path: readonly string[];
  readonly frame: Frame;
  readonly run: PartitionFunction;
}

interface Windows {
  readonly partitionBy: Evaluate | undefined;
  readonly sort: readonly SortPart[];
  readonly compare: CompareValues;
  readonly outputs: readonly Output[];
  readonly carry: Carry;
}

const OPTIONS = new Set(['partitionBy', 'sortBy', 'output']);

export function parseSetWindowFields(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'FailedToParse',
      `the $setWindowFields stage specification must be an object, found ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (!OPTIONS.has(name))
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '$setWindowFields.${name}' is an unknown field.`,
      );
  const scope = rootScope(context.expressions);
  const sentSort = argument.get('sortBy') ?? undefined;
  if (sentSort !== undefined && !isDocument(sentSort))
    throw new MongoError(
      'TypeMismatch',
      `BSON field '$setWindowFields.sortBy' is the wrong type '${bsonTypeOf(sentSort)}', expected type 'object'`,
    );
  const sort = sentSort === undefined ? undefined : parseSortPattern(sentSort);
  const sentOutput = argument.get('output');
  if (sentOutput === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$setWindowFields.output' is missing but a required field",
    );
  if (!isDocument(sentOutput))
    throw new MongoError(
      'TypeMismatch',
      `BSON field '$setWindowFields.output' is the wrong type '${bsonTypeOf(sentOutput)}', expected type 'object'`,
    );
  const partition = argument.get('partitionBy');
  const windows: Omit<Windows, 'carry'> = {
    partitionBy: partition === undefined ? undefined : scope.compile(partition),
    sort: sort ?? [],
    compare: context.expressions.compare,
    outputs: [...sentOutput].map(([name, sent]) => parseOutput(name, sent, scope, sort)),
  };
  return (rows) =>
    windowed(
      rows,
      { ...windows, carry: carrierOf(context.expressions) },
      context.host.yieldToOthers,
    );
}

function parseOutput(
  name: string,
  sent: Bson,
  scope: Scope,
  sort: readonly SortPart[] | undefined,
): Output {
  const path = parseFieldPath(name);
  if (!isDocument(sent))
    throw new MongoError('FailedToParse', `The field '${name}' must be an object`);
  const ranking = [...sent.keys()].find((option) => RANKINGS.has(option));
  if (ranking !== undefined && sent.size > 1)
    throw new MongoError('Location5371601', `${ranking} takes no other arguments`);
  let operator: readonly [string, Bson] | undefined;
  for (const [option, value] of sent) {
    if (option === 'window') continue;
    if (!option.startsWith('$'))
      throw new MongoError('FailedToParse', `Window function found an unknown argument: ${option}`);
    if (operator !== undefined)
      throw new MongoError('FailedToParse', 'Cannot specify two functions in window function spec');
    operator = [option, value];
  }
  if (operator === undefined)
    throw new MongoError('FailedToParse', 'Must specify a window function in output field');
  const [kind, argument] = operator;
  if (FRAMELESS.has(kind) && sent.has('window'))
    throw new MongoError(
      kind === '$shift' || kind === '$expMovingAvg' ? 'FailedToParse' : 'Location5371601',
      `${kind} does not accept a 'window' field`,
    );
  const frame = parseFrame(sent.get('window'), sort);
  const own = Object.hasOwn(WINDOW_FUNCTIONS, kind) ? WINDOW_FUNCTIONS[kind] : undefined;
  if (own !== undefined) return { path, frame, run: own(argument, scope, sort ?? [], kind) };
  return { path, frame, run: accumulated(specOf(kind, argument, scope), frame) };
}

async function* windowed(
  rows: Rows,
  { partitionBy, sort, outputs, compare, carry }: Windows,
  pause: Pause,
): Rows {
  const partitions = new BsonMap<BsonDocument[]>(compare);
  const frame: ValueFrame = [];
  for (const document of await collect(rows, '$setWindowFields')) {
    frame[0] = document;
    const key = partitionBy?.(frame) ?? null;
    if (isArray(key)) throw new MongoError('TypeMismatch', 'Cannot set partitionBy to an array');
    const kept = partitions.get(key);
    if (kept === undefined) partitions.set(key, [document]);
    else kept.push(document);
    const wait = pause();
    if (wait !== undefined) await wait;
  }
  // Partitions come in the order of their keys, as after a sort by them.
  const entries = [...partitions.entries()];
  const ordered = await sortInSlices(entries, (a, b) => compare(a.key, b.key), pause);
  for (const { value } of ordered) {
    const documents = await sortedBy(value, { sort, compare }, pause);
    yield* computed(documents, { sort, outputs, carry }, pause);
  }
}

async function sortedBy(
  documents: readonly BsonDocument[],
  { sort, compare }: Pick<Windows, 'sort' | 'compare'>,
  pause: Pause,
): Promise<readonly BsonDocument[]> {
  if (sort.length === 0) return documents;
  const keyed = documents.map((document) => ({
    document,
    key: sortKeyOf(document, sort, compare),
  }));
  const ordered = await sortInSlices(
    keyed,
    (a, b) => compareSortKeys(a.key, b.key, sort, compare),
    pause,
  );
  return ordered.map(({ document }) => document);
}

/** Rows that are made before they are handed on; the values of one may be as many as its frame has documents. */
const COMPUTED_ROWS = 100;

async function* computed(
  documents: readonly BsonDocument[],
  { sort, outputs, carry }: Pick<Windows, 'sort' | 'outputs' | 'carry'>,
  pause: Pause,
): Rows {
  const columns = outputs.map(({ frame, run }) =>
    run(documents, windowsOf(frame, documents, sort)),
  );
  let made: Row[] = [];
  for (const [at, document] of documents.entries()) {
    let changed = document;
    for (const [which, { path }] of outputs.entries())
      changed = withValue(changed, path, 0, columns[which]?.(at));
    made.push(Row.of(carry(changed, document)));
    const wait = pause();
    if (wait === undefined && made.length < COMPUTED_ROWS) continue;
    yield made;
    made = [];
    if (wait !== undefined) await wait;
  }
  if (made.length > 0) yield made;
}
