/** Keys of maps in formats that have only texts as keys. */
import { TypedNumber } from '../model/number.ts';
import { textOf } from '../model/text.ts';
import type { GremlinValue } from '../model/value.ts';

export function keyText(key: GremlinValue): string {
  if (typeof key === 'number') return String(key);
  if (key instanceof TypedNumber) return String(key.value);
  return key instanceof Date ? key.toISOString() : textOf(key);
}
