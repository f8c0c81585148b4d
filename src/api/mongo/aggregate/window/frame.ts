/** Which documents around one belong to its window. */
import {
  type Bson,
  type BsonDocument,
  Double,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { combineWidening, doubleOf, isNumber, wholeNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import type { SortPart } from '../../query/sort.ts';
import { UTC } from '../dates/time-zone.ts';
import { addUnits, parseUnit, type Unit } from '../dates/units.ts';
import { valueAtPath } from '../expressions/field-path.ts';

type Bound = 'unbounded' | 'current' | Bson;

export type Frame =
  | { readonly kind: 'documents'; readonly from: number; readonly to: number }
  | {
      readonly kind: 'range';
      readonly from: Bound;
      readonly to: Bound;
      readonly unit: Unit | undefined;
    };

export const WHOLE: Frame = {
  kind: 'documents',
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
};

function refuse(message: string): MongoError {
  return new MongoError('FailedToParse', message);
}

function crossed(): MongoError {
  return new MongoError('Location5339900', 'Lower bound must not exceed upper bound');
}

export function parseFrame(sent: Bson | undefined, sort: readonly SortPart[]): Frame {
  if (sent === undefined) return WHOLE;
  if (!isDocument(sent)) throw refuse("'window' field must be an object");
  for (const name of sent.keys())
    if (name !== 'documents' && name !== 'range' && name !== 'unit')
      throw refuse(`'window' field that's not 'documents', 'range' or 'unit': ${name}`);
  const documents = sent.get('documents');
  const range = sent.get('range');
  const unit = sent.get('unit');
  if (documents !== undefined && range !== undefined)
    throw refuse("Window bounds can specify either 'documents' or 'unit', not both.");
  if (unit !== undefined && documents !== undefined)
    throw refuse("Window bounds can specify either 'documents' or 'unit', not both.");
  if (documents !== undefined) {
    const [from, to] = boundsOf(documents).map((bound, at) => documentBound(bound, at)) as [
      number,
      number,
    ];
    if (from > to) throw crossed();
    if ((Number.isFinite(from) || Number.isFinite(to)) && sort.length === 0)
      throw new MongoError('Location5339901', 'Document-based bounds require a sortBy');
    return { kind: 'documents', from, to };
  }
  if (range === undefined) {
    if (unit !== undefined) throw refuse("'unit' must be used with 'range' bounds");
    return WHOLE;
  }
  return rangeFrame(range, unit, sort);
}

function rangeFrame(range: Bson, unit: Bson | undefined, sort: readonly SortPart[]): Frame {
  if (unit !== undefined && typeof unit !== 'string') throw refuse("'unit' must be a string");
  const own = unit === undefined ? undefined : parseUnit(unit);
  const [from, to] = boundsOf(range).map((bound) => {
    if (bound === 'unbounded' || bound === 'current') return bound;
    if (!isNumber(bound)) throw refuse('Range-based bounds expression must be a number');
    if (own !== undefined && wholeNumber(bound) === undefined)
      throw refuse("With 'unit', range-based bounds must be an integer");
    return bound;
  }) as [Bound, Bound];
  if (
    isNumber(from as Bson) &&
    isNumber(to as Bson) &&
    doubleOf(from as Bson) > doubleOf(to as Bson)
  )
    throw crossed();
  if (from === 'current' && isNumber(to as Bson) && doubleOf(to as Bson) < 0) throw crossed();
  if (to === 'current' && isNumber(from as Bson) && doubleOf(from as Bson) > 0) throw crossed();
  if (sort.length !== 1)
    throw new MongoError('Location5339902', 'Range-based bounds require sortBy a single field');
  return { kind: 'range', from, to, unit: own };
}

function boundsOf(sent: Bson): readonly Bson[] {
  if (!isArray(sent) || sent.length !== 2) throw refuse('Window bounds must be a 2-element array');
  return sent;
}

function documentBound(bound: Bson, at: number): number {
  if (bound === 'unbounded') return at === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (bound === 'current') return 0;
  const whole = isNumber(bound) ? wholeNumber(bound) : undefined;
  if (whole === undefined) throw refuse('Numeric document-based bounds must be an integer');
  return whole;
}

/** The documents of the window, from the first up to and without the last. */
export function windowOf(
  frame: Frame,
  documents: readonly BsonDocument[],
  at: number,
  sort: readonly SortPart[],
): readonly [number, number] {
  if (frame.kind === 'documents')
    return [
      Math.max(0, at + frame.from),
      Math.max(0, Math.min(documents.length, at + frame.to + 1)),
    ];
  const part = sort[0] as SortPart;
  const values = (index: number): number =>
    positionOf(documents[index] as BsonDocument, part, frame.unit);
  const own = values(at);
  const low = limitOf(frame.from, documents[at] as BsonDocument, part, frame.unit, own, -1);
  const high = limitOf(frame.to, documents[at] as BsonDocument, part, frame.unit, own, 1);
  const sign = part.isDescending ? -1 : 1;
  let start = at;
  while (start > 0 && sign * (values(start - 1) - low) >= 0) start -= 1;
  while (start < documents.length && sign * (values(start) - low) < 0) start += 1;
  let stop = Math.max(at, start - 1);
  while (stop + 1 < documents.length && sign * (values(stop + 1) - high) <= 0) stop += 1;
  while (stop >= start && sign * (values(stop) - high) > 0) stop -= 1;
  return [start, stop + 1];
}

/** The value of the sort field on one line. */
function positionOf(document: BsonDocument, part: SortPart, unit: Unit | undefined): number {
  const value = valueAtPath(document, part.path, 0);
  if (unit === undefined) {
    if (!isNumber(value))
      throw new MongoError(
        'Location5429414',
        'Invalid range: Expected the sortBy field to be a number',
      );
    return doubleOf(value as Bson);
  }
  if (!(value instanceof Extended) || value.payload.kind !== 'date')
    throw new MongoError(
      'Location5429513',
      'Invalid range: Expected the sortBy field to be a Date',
    );
  return value.payload.ms;
}

function limitOf(
  bound: Bound,
  document: BsonDocument,
  part: SortPart,
  unit: Unit | undefined,
  own: number,
  side: 1 | -1,
): number {
  const sign = part.isDescending ? -1 : 1;
  if (bound === 'unbounded') return sign * side * Number.POSITIVE_INFINITY;
  if (bound === 'current') return own;
  if (unit !== undefined) return addUnits(own, unit, sign * doubleOf(bound), UTC);
  const value = valueAtPath(document, part.path, 0) as Bson;
  const sum = combineWidening('add', value, sign < 0 ? new Double(-doubleOf(bound)) : bound);
  return doubleOf(sum);
}
