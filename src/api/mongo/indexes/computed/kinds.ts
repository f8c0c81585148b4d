/** Which kind of computed index a description asks for. */
import { isWildcard } from '../index-key.ts';
import { fieldKind } from './field-kind.ts';
import { geoKind } from './geo-kind.ts';
import type { IndexKey, IndexKind } from './kind.ts';
import { textKind } from './text-kind.ts';
import { wildcardKind } from './wildcard-kind.ts';

/** Undefined where the values at its fields are its entries, or where nothing is known of them. */
export function kindOf(index: IndexKey): IndexKind | undefined {
  const kinds = [...index.key.values()];
  if (kinds.includes('2dsphere')) return geoKind(index, '2dsphere');
  if (kinds.includes('2d')) return geoKind(index, '2d');
  if (index.key.has('_fts')) return textKind(index);
  if ([...index.key.keys()].some(isWildcard)) return wildcardKind(index);
  const arePlain = kinds.every((kind) => typeof kind !== 'string' || kind === 'hashed');
  return arePlain ? fieldKind(index) : undefined;
}
