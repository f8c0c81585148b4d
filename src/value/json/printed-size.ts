/** An estimate of the length of a value's JSON text, at a fraction of the cost of printing it. */
import { Extended, type ExtendedPayload, isList, type Value, type ValueMap } from '../value.ts';

/** About the bytes of the JSON text. Counting stops once the limit is exceeded. */
export function printedSize(value: Value, limit: number): number {
  let size = printedLeafSize(value);
  if (typeof value !== 'object' || value === null || size > limit) return size;
  if (isList(value)) {
    for (let at = 0; at < value.length && size <= limit; at++)
      size += printedSize(value[at], limit - size);
    return size;
  }
  if (value instanceof Extended) return extendedSize(value.payload);
  for (const name in value) {
    if (size > limit) break;
    size += name.length + 4 + printedSize((value as ValueMap)[name], limit - size);
  }
  return size;
}

/** The size of a value without its members. */
export function printedLeafSize(value: Value): number {
  if (typeof value === 'string') return value.length + 3;
  return typeof value === 'number' ? 9 : 5;
}

/** The names around the payload, such as `{"$binary":{"base64":"","subType":"00"}}`. */
const EXTENDED_BYTES = 40;

function extendedSize(payload: ExtendedPayload): number {
  switch (payload.kind) {
    case 'binary':
      return EXTENDED_BYTES + Math.ceil(payload.bytes.length / 3) * 4;
    case 'regex':
      return EXTENDED_BYTES + payload.source.length + payload.flags.length;
    case 'decimal':
      return EXTENDED_BYTES + payload.digits.length;
    default:
      return EXTENDED_BYTES;
  }
}
