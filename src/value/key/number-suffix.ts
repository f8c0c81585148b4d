/**
 * The bytes behind the floor of a number that is not a double; part of the key format of tuple.ts, on disk: do not
 * renumber. Behind the marker 01:
 *
 *   distance u16      only where 2^53 <= |floor| <= 2^63, where there are whole numbers between two doubles:
 *                     how far the whole part is above the floor
 *   00 | 01           only there: 00 ends a whole number, 01 continues
 *   exponent u32      of the decimal 0.DIGITS * 10^exponent, plus 2^31
 *   pairs             two digits per byte, plus 1; an odd last digit is followed by a 0
 *   00 | 01 digest16  the end, or, after 64 pairs, the mark of truncation and the digest of the whole decimal
 *
 * Exponent, pairs and end are complemented for negative numbers, so that greater magnitudes sort first.
 */
import { assert, type Bytes, concatBytes } from '../../base/index.ts';
import { Extended } from '../value.ts';
import { DIGEST_BYTES, digestOf } from './canonical.ts';
import { type Decimal, decimalText } from './number-key.ts';

/** Decimals of all APIs have at most 38 digits, except CQL's unlimited ones. */
const PAIRS_MAX = 64;
const EXPONENT_BIAS = 2 ** 31;
const GAPS_FROM = 2 ** 53;
const GAPS_TO = 2 ** 63;

interface NumberSuffix {
  readonly value: Extended;
  readonly end: number;
  /** False if the digits were truncated; the value then has only the first ones. */
  readonly isExact: boolean;
}

export function encodeNumberSuffix(floor: number, exact: Decimal): Bytes {
  if (!hasGaps(floor)) return encodeDecimal(exact);
  const distance = Number(wholePart(exact) - BigInt(floor));
  const isWhole = exact.digits.length <= exact.exponent;
  const head = Uint8Array.of(distance >> 8, distance & 0xff, isWhole ? 0 : 1);
  return isWhole ? head : concatBytes(head, encodeDecimal(exact));
}

/** Reads from behind the marker 01. */
export function decodeNumberSuffix(bytes: Bytes, start: number, floor: number): NumberSuffix {
  if (!hasGaps(floor)) return decodeDecimal(bytes, start, floor < 0);
  const distance = ((bytes[start] as number) << 8) | (bytes[start + 1] as number);
  if (bytes[start + 2] === 1) return decodeDecimal(bytes, start + 3, floor < 0);
  const value = BigInt(floor) + BigInt(distance);
  const payload =
    BigInt.asIntN(64, value) === value
      ? ({ kind: 'int64', value } as const)
      : ({ kind: 'decimal', digits: value.toString() } as const);
  return { value: new Extended(payload), end: start + 3, isExact: true };
}

function hasGaps(floor: number): boolean {
  const magnitude = Math.abs(floor);
  return magnitude >= GAPS_FROM && magnitude <= GAPS_TO;
}

/** The greatest whole number that is not above the decimal. */
function wholePart({ isNegative, digits, exponent }: Decimal): bigint {
  const magnitude = BigInt(digits.padEnd(exponent, '0').slice(0, exponent));
  if (!isNegative) return magnitude;
  return digits.length > exponent ? -magnitude - 1n : -magnitude;
}

function encodeDecimal(exact: Decimal): Bytes {
  const pairs = Math.ceil(exact.digits.length / 2);
  const kept = Math.min(pairs, PAIRS_MAX);
  const isCut = pairs > PAIRS_MAX;
  const bytes = Buffer.alloc(4 + kept + 1 + (isCut ? DIGEST_BYTES : 0));
  bytes.writeUInt32BE(exact.exponent + EXPONENT_BIAS);
  for (let at = 0; at < kept; at++)
    bytes[4 + at] = Number(exact.digits.slice(at * 2, at * 2 + 2).padEnd(2, '0')) + 1;
  if (isCut) {
    bytes[4 + kept] = 1;
    bytes.set(digestOf(decimalText(exact)), 5 + kept);
  }
  return exact.isNegative ? bytes.map((byte) => ~byte) : bytes;
}

function decodeDecimal(bytes: Bytes, start: number, isNegative: boolean): NumberSuffix {
  const flip = isNegative ? 0xff : 0;
  let exponent = -EXPONENT_BIAS;
  for (let at = 0; at < 4; at++) exponent += byteAt(bytes, start + at, flip) * 2 ** (24 - 8 * at);
  let digits = '';
  let at = start + 4;
  const truncatedAt = at + PAIRS_MAX;
  for (; at < truncatedAt && byteAt(bytes, at, flip) !== 0; at++)
    digits += String(byteAt(bytes, at, flip) - 1).padStart(2, '0');
  const isExact = byteAt(bytes, at, flip) === 0;
  const text = decimalText({ isNegative, exponent, digits: digits.replace(/0+$/, '') });
  return {
    value: new Extended({ kind: 'decimal', digits: text }),
    end: at + 1 + (isExact ? 0 : DIGEST_BYTES),
    isExact,
  };
}

function byteAt(bytes: Bytes, at: number, flip: number): number {
  const byte = bytes[at];
  assert(byte !== undefined, 'the key ends in a number');
  return byte ^ flip;
}
