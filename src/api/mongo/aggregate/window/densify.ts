/** `$densify`: documents for the steps of a range that have none. */

import { type Pause, sortInSlices } from '../../../../query/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  compareBson,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { combineWidening, doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { BsonMap } from '../bson-set.ts';
import type { CompareValues } from '../collated-keys.ts';
import { UTC } from '../dates/time-zone.ts';
import { addUnits, parseUnit, type Unit } from '../dates/units.ts';
import { parseFieldPath, valueAtPath } from '../expressions/field-path.ts';
import { collect } from '../stages/collect.ts';
import { withValue } from '../stages/simple.ts';
import type { Stage, StageContext } from '../stages/stage.ts';

interface Densify {
  readonly field: readonly string[];
  readonly compare: CompareValues;
  readonly by: readonly (readonly string[])[];
  readonly step: Bson;
  readonly unit: Unit | undefined;
  readonly bounds: 'full' | 'partition' | readonly [Bson, Bson];
}

/** Documents that one stage makes (documented). */
const MADE_MAX = 500_000;

export function parseDensify(argument: Bson, { expressions, host }: StageContext): Stage {
  if (!isDocument(argument))
    throw new MongoError(
      'Location5733401',
      `The $densify stage specification must be an object, found ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (name !== 'field' && name !== 'partitionByFields' && name !== 'range')
      throw new MongoError('IDLUnknownField', `BSON field '$densify.${name}' is an unknown field.`);
  const field = argument.get('field');
  const range = argument.get('range');
  const by = argument.get('partitionByFields') ?? [];
  if (typeof field !== 'string')
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$densify.field' is missing but a required field",
    );
  if (!isDocument(range))
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field '$densify.range' is missing but a required field",
    );
  if (!isArray(by)) throw new MongoError('TypeMismatch', "'partitionByFields' must be an array");
  const parsed: Densify = {
    field: parseFieldPath(field),
    compare: expressions.compare,
    by: by.map((name) => parseFieldPath(String(name))),
    ...parseRange(range),
  };
  if (parsed.bounds === 'partition' && by.length === 0)
    throw new MongoError(
      'Location5733408',
      "One may not specify the bounds as 'partition' without specifying a non-empty array of partitionByFields.",
    );
  return (rows) => densified(rows, parsed, host.yieldToOthers);
}

function parseRange(range: BsonDocument): Pick<Densify, 'step' | 'unit' | 'bounds'> {
  const step = range.get('step');
  const sentUnit = range.get('unit');
  const bounds = range.get('bounds');
  if (!isNumber(step)) throw new MongoError('Location5733400', 'The step must be a number');
  if (doubleOf(step as Bson) <= 0)
    throw new MongoError(
      'Location5733401',
      'the step parameter in a range statement must be a strictly positive numeric value',
    );
  const unit = typeof sentUnit === 'string' ? parseUnit(sentUnit) : undefined;
  if (bounds === 'full' || bounds === 'partition')
    return { step: step as Bson, unit, bounds: bounds as 'full' | 'partition' };
  if (!isArray(bounds) || bounds.length !== 2)
    throw new MongoError(
      'Location5733403',
      'a bounding array in a range statement must have exactly two elements',
    );
  const [low, high] = bounds as [Bson, Bson];
  const isTime = (value: Bson): boolean =>
    value instanceof Extended && value.payload.kind === 'date';
  const isFit = unit === undefined ? isNumber(low) && isNumber(high) : isTime(low) && isTime(high);
  if (!isFit)
    throw new MongoError(
      'Location5733402',
      'a bounding array in a range statement must have numbers, or dates with a unit',
    );
  if (compareBson(low, high) > 0)
    throw new MongoError('Location5733402', 'the bounds in a range statement must be ascending');
  return { step: step as Bson, unit, bounds: [low, high] };
}

async function* densified(rows: Rows, parsed: Densify, pause: Pause): Rows {
  const { field, by, bounds, compare } = parsed;
  const partitions = new BsonMap<BsonDocument[]>(compare);
  const without: Row[] = [];
  let low: Bson | undefined;
  let high: Bson | undefined;
  for (const document of await collect(rows, '$densify')) {
    const value = valueAtPath(document, field, 0);
    if (value === undefined || value === null) {
      without.push(Row.of(document));
      continue;
    }
    checkValue(value, parsed.unit);
    if (low === undefined || compareBson(value, low) < 0) low = value;
    if (high === undefined || compareBson(value, high) > 0) high = value;
    const key = by.map((path) => valueAtPath(document, path, 0) ?? null);
    const kept = partitions.get(key);
    if (kept === undefined) partitions.set(key, [document]);
    else kept.push(document);
  }
  if (without.length > 0) yield without;
  let made = 0;
  // Partitions come in the order of their keys, as after a sort by them.
  const ordered = await sortInSlices(
    [...partitions.entries()],
    (a, b) => compare(a.key, b.key),
    pause,
  );
  for (const { value } of ordered) {
    const own = await sortInSlices(
      value,
      (a, b) => compareBson(valueAtPath(a, field, 0), valueAtPath(b, field, 0)),
      pause,
    );
    const edge = (at: number): Bson => valueAtPath(own.at(at) as BsonDocument, field, 0) as Bson;
    const range: readonly [Bson, Bson, boolean] =
      bounds === 'full'
        ? [low as Bson, high as Bson, true]
        : bounds === 'partition'
          ? [edge(0), edge(-1), true]
          : [bounds[0], bounds[1], false];
    let filled: Row[] = [];
    for (const document of fillPartition(own, parsed, range)) {
      made += 1;
      if (made > MADE_MAX)
        throw new MongoError(
          'Location5897900',
          `Generated ${made} documents in $densify, which is over the limit of ${MADE_MAX}`,
        );
      filled.push(Row.of(document));
      const wait = pause();
      if (wait === undefined && filled.length < FILLED_ROWS) continue;
      yield filled;
      filled = [];
      if (wait !== undefined) await wait;
    }
    if (filled.length > 0) yield filled;
  }
}

function checkValue(value: Bson, unit: Unit | undefined): void {
  const isTime = value instanceof Extended && value.payload.kind === 'date';
  if (unit === undefined ? isNumber(value) : isTime) return;
  if (isTime)
    throw new MongoError(
      'Location6586400',
      'Encountered date densify value in collection when step does not have a date unit.',
    );
  throw new MongoError(
    'Location5733201',
    'Densify field type must be numeric, or a date with a unit',
  );
}

/** Rows that are made before they are handed on. */
const FILLED_ROWS = 1000;

/** The steps from the lower bound on, with the documents of the partition between them. */
function* fillPartition(
  own: readonly BsonDocument[],
  { field, by, step, unit }: Densify,
  [low, high, isClosed]: readonly [Bson, Bson, boolean],
): Generator<BsonDocument> {
  let at = 0;
  let number = 0;
  let next = low;
  while (at < own.length || isWithin(next, high, isClosed)) {
    const document = own[at];
    const value = document === undefined ? undefined : (valueAtPath(document, field, 0) as Bson);
    const order = value === undefined ? 1 : compareBson(value, next);
    if (document !== undefined && (order <= 0 || !isWithin(next, high, isClosed))) {
      yield document;
      at += 1;
      if (order !== 0) continue;
      while (
        at < own.length &&
        compareBson(valueAtPath(own[at] as BsonDocument, field, 0), value) === 0
      )
        yield own[at++] as BsonDocument;
    } else {
      let fresh: BsonDocument = new Map();
      // Texts that a collation calls equal may differ: the next document has them, or the last one.
      const like = document ?? (own.at(-1) as BsonDocument);
      for (const path of by) {
        const same = valueAtPath(like, path, 0) ?? null;
        if (same !== null) fresh = withValue(fresh, path, 0, same);
      }
      yield withValue(fresh, field, 0, next);
    }
    number += 1;
    next = stepped(low, step, number, unit);
  }
}

function isWithin(value: Bson, high: Bson, isClosed: boolean): boolean {
  const order = compareBson(value, high);
  return isClosed ? order <= 0 : order < 0;
}

function stepped(low: Bson, step: Bson, number: number, unit: Unit | undefined): Bson {
  if (unit === undefined)
    return combineWidening('add', low, combineWidening('multiply', step, number));
  const ms = ((low as Extended).payload as { readonly ms: number }).ms;
  return new Extended({ kind: 'date', ms: addUnits(ms, unit, number * doubleOf(step), UTC) });
}
