/**
 * The option `expireAfterSeconds`: documents of a time series expire by their time, those of a clustered collection by the
 * dates in `_id`. An index that clients do not see has these dates.
 */
import type { IndexDefinition } from '../../../catalog/index.ts';
import type { Service } from '../../../service/index.ts';
import { isDocument, printPath } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import type { Collection } from './collection.ts';

const NAME = '$expiry';

/** Indexes of clients have a description. */
export function isExpiryIndex({ name, details }: IndexDefinition): boolean {
  return name === NAME && details === undefined;
}

/** Makes the index, changes it, or drops it, as the option says now. */
export async function keepExpiry(
  { indexes }: Service,
  { container, options }: Collection,
): Promise<void> {
  const found = container.indexes?.find(isExpiryIndex);
  const seconds = options.get('expireAfterSeconds') ?? null;
  if (!isNumber(seconds)) {
    if (found !== undefined) await indexes.drop(container, found.id);
    return;
  }
  const expireAfterSec = doubleOf(seconds);
  if (found !== undefined) {
    if (found.expireAfterSec !== expireAfterSec)
      await indexes.change(container, found.id, { expireAfterSec });
    return;
  }
  const series = options.get('timeseries');
  const field = isDocument(series) ? (series.get('timeField') as string) : '_id';
  await indexes.create(container, {
    name: NAME,
    parts: [{ path: printPath([field]), isDescending: false }],
    collation: 'bson',
    isMultikey: true,
    isSparse: true,
    expireAfterSec,
  });
}
