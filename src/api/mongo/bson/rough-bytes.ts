/** How much memory a value takes, roughly. */
import { type Bson, isArray, isDocument } from '../../../value/index.ts';

export function roughBytes(value: Bson): number {
  if (typeof value === 'string') return 16 + value.length;
  if (isArray(value)) return value.reduce((sum: number, part) => sum + roughBytes(part), 16);
  if (!isDocument(value)) return 16;
  let bytes = 32;
  for (const [name, part] of value) bytes += name.length + roughBytes(part);
  return bytes;
}
