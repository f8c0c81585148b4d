/** Texts as MongoDB counts them: by bytes of UTF-8 or by code points, and other values as text. */
import { type Bson, BsonCode, BsonSymbol, Double, Extended } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { isNullish, typeName } from './define.ts';

/** The longest text that an expression makes: that of a document. */
export const TEXT_BYTES_MAX = 16 * 1024 * 1024;

/** The text itself, if it is not too long. */
export function checkedText(text: string): string {
  // A text has at most three bytes for each of its units.
  if (text.length * 3 < TEXT_BYTES_MAX || Buffer.byteLength(text) < TEXT_BYTES_MAX) return text;
  throw tooLong();
}

export function tooLong(): MongoError {
  return new MongoError('Location16493', 'Tried to create string longer than 16MB');
}

/** As Python prints a double, without the point of whole numbers. */
export function doubleText(value: number, digitsMax = 16): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, power] = value.toExponential().split('e') as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digitsMax)
    return exponent < 0 ? fixedText(value) : String(value);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}

function fixedText(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [mantissa, power] = text.split('e') as [string, string];
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace('-', '').replace('.', '');
  return `${sign}0.${'0'.repeat(-Number(power) - 1)}${digits}`;
}

/** A double with six digits, as coercions print it. */
function shortText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, power] = value.toExponential(5).split('e') as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return doubleText(Number(value.toPrecision(6)), 6);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa.replace(/\.?0+$/, '')}e${exponent < 0 ? '-' : '+'}${digits}`;
}

/** What `$toLower`, `$substr` and their kind make of a value: nothing is the empty text. */
export function coercedText(value: Bson | undefined): string {
  if (typeof value === 'string') return value;
  if (isNullish(value)) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof Double) return shortText(value.value);
  if (value instanceof BsonSymbol) return value.text;
  if (value instanceof BsonCode && value.scope === undefined) return value.source;
  if (value instanceof Extended) {
    const { payload } = value;
    if (payload.kind === 'decimal') return payload.digits.replace('-NaN', 'NaN');
    if (payload.kind === 'date') return dateText(payload.ms);
    if (payload.kind === 'timestamp') return timestampText(payload.high, payload.low);
  }
  throw new MongoError(
    'Location16007',
    `can't convert from BSON type ${typeName(value)} to String`,
  );
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function timestampText(seconds: number, increment: number): string {
  const date = new Date(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2, ' ')} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}:${increment}`;
}

/** ISO 8601 with milliseconds; refuses years that have not four digits. */
export function dateText(ms: number): string {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999)
    throw new MongoError(
      'Location18537',
      `Could not convert date to string: date component was outside the supported range of 0-9999: ${year}`,
    );
  return date.toISOString();
}

/** The number of code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** Where the code point of this number begins; the end of the text beyond it. */
export function unitOfCodePoint(text: string, number: number): number {
  let at = 0;
  for (let left = number; left > 0 && at < text.length; left--) {
    const unit = text.charCodeAt(at);
    at += unit >= 0xd800 && unit < 0xdc00 ? 2 : 1;
  }
  return Math.min(at, text.length);
}
