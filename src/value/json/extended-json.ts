/**
 * The JSON form of values whose types JSON lacks: the relaxed form of MongoDB Extended
 * JSON v2, which the reference service returns as well. One way only: reading JSON never creates an Extended,
 * because the same text may be a client's own document.
 *
 *   int64      12 if a double is exact, else {"$numberLong":"9223372036854775807"}
 *   decimal    {"$numberDecimal":"12.50"}
 *   date       {"$date":"2020-01-31T00:00:00.000Z"}, outside the years 1970 to 9999 {"$date":{"$numberLong":"-1"}}
 *   uuid       {"$uuid":"73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}
 *   objectId   {"$oid":"5f3a…"}
 *   binary     {"$binary":{"base64":"AQI=","subType":"00"}}
 *   timestamp  {"$timestamp":{"t":1,"i":2}}
 *   regex      {"$regularExpression":{"pattern":"^a","options":"i"}}
 *   minKey     {"$minKey":1}
 *   maxKey     {"$maxKey":1}
 *
 * NaN and the infinities are null, as in JSON.stringify.
 */
import { type Bytes, unreachable } from '../../base/index.ts';
import type { ExtendedPayload } from '../value.ts';

/** The end of the year 9999, after which the ISO form has a sign. */
const ISO_MS_END = 253_402_300_800_000;

export function toExtendedJson(payload: ExtendedPayload): unknown {
  switch (payload.kind) {
    case 'int64': {
      const double = Number(payload.value);
      return Number.isSafeInteger(double) ? double : { $numberLong: payload.value.toString() };
    }
    case 'decimal':
      return { $numberDecimal: payload.digits };
    case 'date':
      return payload.ms >= 0 && payload.ms < ISO_MS_END
        ? { $date: new Date(payload.ms).toISOString() }
        : { $date: { $numberLong: String(payload.ms) } };
    case 'uuid':
      return { $uuid: uuidText(payload.bytes) };
    case 'objectId':
      return { $oid: hexText(payload.bytes) };
    case 'binary':
      return {
        $binary: {
          base64: Buffer.from(payload.bytes).toString('base64'),
          subType: payload.subtype.toString(16).padStart(2, '0'),
        },
      };
    case 'timestamp':
      return { $timestamp: { t: payload.high, i: payload.low } };
    case 'regex':
      return { $regularExpression: { pattern: payload.source, options: payload.flags } };
    case 'minKey':
      return { $minKey: 1 };
    case 'maxKey':
      return { $maxKey: 1 };
    default:
      return unreachable(payload);
  }
}

function hexText(bytes: Bytes): string {
  return Buffer.from(bytes).toString('hex');
}

function uuidText(bytes: Bytes): string {
  return hexText(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
