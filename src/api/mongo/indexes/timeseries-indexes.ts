/** Indexes that a time series cannot have: its measurements are found by what they are about and by time. */
import { type BsonDocument, isDocument } from '../../../value/index.ts';
import { type Collection, isTimeSeries } from '../collections/collection.ts';
import { MongoError } from '../errors.ts';
import { cannot } from './index-key.ts';
import type { ParsedIndex } from './index-options-parser.ts';

/** Throws InvalidOptions or CannotCreateIndex. */
export function checkTimeseriesIndex(
  collection: Pick<Collection, 'options'>,
  { kind, key, spec }: ParsedIndex,
): void {
  const series = collection.options.get('timeseries');
  if (!isTimeSeries(collection) || !isDocument(series)) return;
  if (spec.get('unique') === true)
    throw invalid('Unique indexes are not supported on time-series collections');
  if (kind === 'text') throw invalid('Text indexes are not supported on time-series collections');
  if (key.has('$**'))
    throw new MongoError(
      'Location7246201',
      'Wildcard indexes on all fields are not supported on time-series collections',
    );
  const fieldNames = [series.get('metaField'), series.get('timeField')];
  const isOwn = [...key.keys()].every((name) =>
    fieldNames.some((field) => name === field || name.startsWith(`${String(field)}.`)),
  );
  if (spec.get('sparse') === true && !isOwn)
    throw invalid('Sparse indexes are not supported on the measurements of a time series');
  if ((kind === 'hashed' || kind === '2d') && !isOwn)
    throw cannot(`Index type '${kind}' is not supported on the measurements of a time series`);
  if (spec.has('expireAfterSeconds')) checkExpiry(spec, fieldNames[0]);
}

/** A time series expires as a whole; by an index, what is about some of its sources. */
function checkExpiry(spec: BsonDocument, meta: unknown): void {
  const partial = spec.get('partialFilterExpression');
  const isAboutMeta =
    isDocument(partial) &&
    [...partial.keys()].every((name) => name === meta || name.startsWith(`${String(meta)}.`));
  if (!isAboutMeta)
    throw invalid(
      'TTL indexes on time-series collections need a partialFilterExpression on the metaField',
    );
}

function invalid(message: string): MongoError {
  return new MongoError('InvalidOptions', message);
}
