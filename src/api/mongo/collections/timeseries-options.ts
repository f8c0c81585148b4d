/** The option `timeseries` of `create`, with the defaults that are kept. */
import { type Bson, type BsonDocument, isDocument } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { checkFields, missingField } from '../fields/field-table.ts';
import { wholeOf } from '../fields/numbers.ts';

/** The longest a bucket of each granularity may span, in seconds (documented). */
const SPANS: Readonly<Record<string, number>> = {
  seconds: 3600,
  minutes: 86_400,
  hours: 2_592_000,
};
const SPAN_MAX = 31_536_000;

/** @param isStrict - false where the fields may be the same, as `$out` allows. */
export function checkTimeseries(sent: BsonDocument, isStrict = true): BsonDocument {
  checkFields(
    'create.timeseries',
    sent,
    {
      timeField: 'string',
      metaField: 'string',
      granularity: 'string',
      bucketMaxSpanSeconds: 'int',
      bucketRoundingSeconds: 'int',
    },
    false,
  );
  const time = sent.get('timeField') ?? null;
  if (time === null) throw missingField('create.timeseries', 'timeField');
  checkName('timeField', time as string);
  const meta = sent.get('metaField') ?? undefined;
  if (meta !== undefined) {
    checkName('metaField', meta as string);
    if (isStrict && (meta === '_id' || meta === time))
      throw invalid("The 'metaField' cannot be '_id' or the same as the 'timeField'");
  }
  return new Map<string, Bson>([
    ['timeField', time],
    ...(meta === undefined ? [] : [['metaField', meta] as const]),
    ...bucketing(sent),
  ]);
}

function checkName(field: string, name: string): void {
  if (name.includes('\0'))
    throw new MongoError('BadValue', `The '${field}' cannot contain a null byte`);
  if (name.includes('.')) throw invalid(`The '${field}' cannot contain dots`);
  if (name.startsWith('$') && field !== 'timeField')
    throw invalid(`The '${field}' cannot begin with a dollar sign`);
}

/** Granularity or explicit spans, and the span that follows from the granularity. */
function bucketing(sent: BsonDocument): readonly (readonly [string, Bson])[] {
  const granularity = sent.get('granularity') ?? undefined;
  if (granularity !== undefined && !Object.hasOwn(SPANS, granularity as string))
    throw new MongoError(
      'BadValue',
      `Enumeration value '${String(granularity)}' for field 'create.timeseries.granularity' is not a valid value.`,
    );
  const [span, rounding] = [
    sent.get('bucketMaxSpanSeconds'),
    sent.get('bucketRoundingSeconds'),
  ].map((value) => (value === undefined || value === null ? undefined : wholeOf(value)));
  for (const value of [span, rounding])
    if (value !== undefined && !(value >= 1 && value <= SPAN_MAX))
      throw new MongoError(
        'BadValue',
        `BSON field 'bucketMaxSpanSeconds' value must be >= 1 and <= ${SPAN_MAX}, actual value '${value}'`,
      );
  const isByGranularity =
    granularity !== undefined || (span === undefined && rounding === undefined);
  if (isByGranularity) {
    const name = (granularity as string | undefined) ?? 'seconds';
    if (rounding !== undefined || (span !== undefined && span !== SPANS[name]))
      throw invalid('Timeseries: bucketRoundingSeconds and granularity exclude each other');
    return [
      ['granularity', name],
      ['bucketMaxSpanSeconds', SPANS[name] as number],
    ];
  }
  if (span === undefined || rounding === undefined || span !== rounding)
    throw invalid(
      'Timeseries bucketMaxSpanSeconds and bucketRoundingSeconds must be set together and be equal',
    );
  return [
    ['bucketMaxSpanSeconds', span],
    ['bucketRoundingSeconds', rounding],
  ];
}

/** `collMod` may only widen buckets. */
export function changedTimeseries(old: BsonDocument, sent: Bson): BsonDocument {
  if (!isDocument(sent)) return old;
  checkFields(
    'collMod.timeseries',
    sent,
    { granularity: 'string', bucketMaxSpanSeconds: 'int', bucketRoundingSeconds: 'int' },
    false,
  );
  if (![...sent.values()].some((value) => value !== null)) return old;
  const wanted = new Map<string, Bson>(bucketing(sent));
  const [before, after] = [old, wanted].map((each) => Number(each.get('bucketMaxSpanSeconds')));
  if ((after as number) < (before as number))
    throw invalid(
      'Invalid transition for timeseries.granularity or bucketMaxSpanSeconds: buckets can only grow',
    );
  const kept = [...old].filter(([name]) => name === 'timeField' || name === 'metaField');
  return new Map([...kept, ...wanted]);
}

function invalid(message: string): MongoError {
  return new MongoError('InvalidOptions', message);
}
