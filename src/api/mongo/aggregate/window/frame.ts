/** Which documents around one belong to its window. */
import {
  type Bson,
  type BsonDocument,
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
type DocumentBound = 'unbounded' | number;

export type Frame =
  | {
      readonly kind: 'documents';
      readonly from: DocumentBound;
      readonly to: DocumentBound;
    }
  | {
      readonly kind: 'range';
      readonly from: Bound;
      readonly to: Bound;
      readonly unit: Unit | undefined;
    };

export const WHOLE: Frame = {
  kind: 'documents',
  from: 'unbounded',
  to: 'unbounded',
};

function refuse(message: string): MongoError {
  return new MongoError('FailedToParse', message);
}

function crossed(): MongoError {
  return new MongoError('Location5339900', 'Lower bound must not exceed upper bound');
}

/** @param sort - undefined where no order was asked for; an empty one counts as one */
export function parseFrame(sent: Bson | undefined, sort: readonly SortPart[] | undefined): Frame {
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
    const [from, to] = boundsOf(documents).map(documentBound) as [DocumentBound, DocumentBound];
    if (from !== 'unbounded' && to !== 'unbounded' && from > to) throw crossed();
    if ((from !== 'unbounded' || to !== 'unbounded') && sort === undefined)
      throw new MongoError('Location5339901', 'Document-based bounds require a sortBy');
    return { kind: 'documents', from, to };
  }
  if (range === undefined) {
    if (unit !== undefined) throw refuse("'unit' must be used with 'range' bounds");
    return WHOLE;
  }
  return rangeFrame(range, unit, sort);
}

function rangeFrame(
  range: Bson,
  unit: Bson | undefined,
  sort: readonly SortPart[] | undefined,
): Frame {
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
  const [part] = sort ?? [];
  if (part === undefined || sort?.length !== 1)
    throw new MongoError('Location5339902', 'Range-based bounds require sortBy a single field');
  if (part.isDescending)
    throw new MongoError('Location8947401', 'Range-based bounds require an ascending sortBy');
  return { kind: 'range', from, to, unit: own };
}

function boundsOf(sent: Bson): readonly Bson[] {
  if (!isArray(sent) || sent.length !== 2) throw refuse('Window bounds must be a 2-element array');
  return sent;
}

function documentBound(bound: Bson): DocumentBound {
  if (bound === 'unbounded') return 'unbounded';
  if (bound === 'current') return 0;
  const whole = isNumber(bound) ? wholeNumber(bound) : undefined;
  if (whole === undefined) throw refuse('Numeric document-based bounds must be an integer');
  return whole;
}

/**
 * The documents of the window around each one, from the first up to and without the last. Bounds only grow along the
 * partition, so they are found by going on from those of the document before.
 */
export function windowsOf(
  frame: Frame,
  documents: readonly BsonDocument[],
  sort: readonly SortPart[],
): (at: number) => readonly [number, number] {
  const count = documents.length;
  if (frame.kind === 'documents') {
    const from = frame.from === 'unbounded' ? Number.NEGATIVE_INFINITY : frame.from;
    const to = frame.to === 'unbounded' ? Number.POSITIVE_INFINITY : frame.to;
    return (at) => [
      Math.min(count, Math.max(0, at + from)),
      Math.max(0, Math.min(count, at + to + 1)),
    ];
  }
  const part = sort[0] as SortPart;
  const { from, to, unit } = frame;
  const positions = documents.map((document) => positionOf(document, part, unit));
  let start = 0;
  let stop = 0;
  return (at) => {
    const document = documents[at] as BsonDocument;
    const own = positions[at] as number;
    const low = limitOf(from, document, part, unit, own, -1);
    const high = limitOf(to, document, part, unit, own, 1);
    while (start < count && (positions[start] as number) < low) start += 1;
    while (stop < count && (positions[stop] as number) <= high) stop += 1;
    return [start, Math.max(start, stop)];
  };
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
  if (bound === 'unbounded') return side * Number.POSITIVE_INFINITY;
  if (bound === 'current') return own;
  if (unit !== undefined) return addUnits(own, unit, doubleOf(bound), UTC);
  const value = valueAtPath(document, part.path, 0) as Bson;
  return doubleOf(combineWidening('add', value, bound));
}
