/**
 * Decimals as digits and as the sixteen bytes of BSON. A NaN has a sign, which the library's text leaves out and which
 * MongoDB keeps.
 */
import { Decimal128 } from 'bson';
import type { Bytes } from '../../base/index.ts';

const NEGATIVE_NAN = '-NaN';
/** The five bits behind the sign, all set in a NaN. */
const NAN_BITS = 0xfc;

export function digitsOfBytes(bytes: Bytes): string {
  const isNegativeNaN = ((bytes[15] as number) & NAN_BITS) === NAN_BITS;
  return isNegativeNaN ? NEGATIVE_NAN : new Decimal128(bytes).toString();
}

export function bytesOfDigits(digits: string): Bytes {
  const { bytes } = Decimal128.fromString(digits);
  if (digits !== NEGATIVE_NAN) return bytes;
  const signed = Uint8Array.from(bytes);
  signed[15] = (signed[15] as number) | 0x80;
  return signed;
}

/** The canonical digits of text; throws where it is no decimal. */
export function digitsOfText(text: string): string {
  return digitsOfBytes(bytesOfDigits(text));
}
