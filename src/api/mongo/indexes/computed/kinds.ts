/** Which kind of computed index a description asks for. */
import { geoKind } from './geo-kind.ts';
import type { IndexKey, IndexKind } from './kind.ts';
import { textKind } from './text-kind.ts';

/** Undefined where the values at its fields are its entries, or where nothing is known of them. */
export function kindOf(index: IndexKey): IndexKind | undefined {
  const kinds = [...index.key.values()];
  if (kinds.includes('2dsphere')) return geoKind(index, '2dsphere');
  if (kinds.includes('2d')) return geoKind(index, '2d');
  if (index.key.has('_fts')) return textKind(index);
  return undefined;
}
