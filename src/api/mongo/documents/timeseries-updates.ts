/** Measurements are not changed one by one: an update of a time series changes what all of them are about. */
import { type Bson, isArray, isDocument } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { MongoError } from '../errors.ts';

interface Update {
  readonly update: Bson | undefined;
  readonly isMulti: boolean;
  readonly isUpsert: boolean;
}

/** Throws InvalidOptions. Deletes are no updates. */
export function checkTimeseriesUpdate(
  { options }: Collection,
  { update, isMulti, isUpsert }: Update,
): void {
  const series = options.get('timeseries');
  if (update === undefined || !isDocument(series)) return;
  if (!isMulti) throw invalid('Cannot perform a non-multi update on a time-series collection');
  if (isUpsert) throw invalid('Cannot perform an upsert on a time-series collection');
  if (isArray(update) || !isDocument(update))
    throw invalid('Cannot perform a pipeline-style update on a time-series collection');
  const meta = series.get('metaField');
  if (typeof meta !== 'string')
    throw invalid('Cannot perform an update on a time-series collection without a metaField');
  for (const [operator, fields] of update) {
    const names = isDocument(fields) ? [...fields.keys()] : [];
    const isMeta = names.every((name) => name === meta || name.startsWith(`${meta}.`));
    const isRenamed = operator === '$rename' && names.includes(meta);
    if (!operator.startsWith('$') || !isMeta || isRenamed)
      throw invalid('Cannot perform an update on a time-series collection but on its metaField');
  }
}

function invalid(message: string): MongoError {
  return new MongoError('InvalidOptions', message);
}
