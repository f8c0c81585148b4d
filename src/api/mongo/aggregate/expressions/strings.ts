/** Operators of texts. */
import { draw } from '../../../../base/index.ts';
import { type Bson, Double, isDocument } from '../../../../value/index.ts';
import {
  digitsOf,
  doubleOf,
  fitsInt64,
  isDecimal,
  isNumber,
  wholeInt32,
} from '../../bson/arithmetic.ts';
import { integerOfDecimal } from '../../bson/decimal.ts';
import { MongoError } from '../../errors.ts';
import {
  binary,
  type CompileOperator,
  compileOption,
  folded,
  isNullish,
  type OperatorTable,
  parseOptions,
  typeName,
  unary,
  variadic,
} from './define.ts';
import type { Evaluate } from './scope.ts';
import { checkedText, codePoints, coercedText, unitOfCodePoint } from './text.ts';

type Value = Bson | undefined;

export const STRINGS: OperatorTable = {
  $concat: variadic(concat),
  $indexOfBytes: variadic((values) => indexOf(values, 'Bytes'), 2, 4),
  $indexOfCP: variadic((values) => indexOf(values, 'CP'), 2, 4),
  $ltrim: trim(true, false),
  $replaceAll: replace(true),
  $replaceOne: replace(false),
  $rtrim: trim(false, true),
  $split: binary(split),
  $strcasecmp: binary((a, b) => {
    const [left, right] = [upper(coercedText(a)), upper(coercedText(b))];
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }),
  $strLenBytes: unary((value) =>
    lengthOf(value, 'Location34473', '$strLenBytes', Buffer.byteLength),
  ),
  $strLenCP: unary((value) => lengthOf(value, 'Location34471', '$strLenCP', codePoints)),
  $substr: variadic(substrBytes, 3, 3),
  $substrBytes: variadic(substrBytes, 3, 3),
  $substrCP: variadic(substrCodePoints, 3, 3),
  $toLower: unary((value) => checkedText(lower(coercedText(value)))),
  $toUpper: unary((value) => checkedText(upper(coercedText(value)))),
  $trim: trim(true, true),
};

/** Only the letters of ASCII have two cases here, as in MongoDB. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
}

function upper(text: string): string {
  return text.replace(/[a-z]+/g, (part) => part.toUpperCase());
}

function concat(values: readonly Value[]): Value {
  let joined = '';
  let hasNull = false;
  for (const value of values) {
    if (isNullish(value)) {
      hasNull = true;
      break;
    }
    if (typeof value !== 'string')
      throw new MongoError(
        'Location16702',
        `$concat only supports strings, not ${typeName(value)}`,
      );
    joined += value;
  }
  if (hasNull) return null;
  draw(joined.length * 2);
  return checkedText(joined);
}

function lengthOf(
  value: Value,
  code: 'Location34473' | 'Location34471',
  name: string,
  measure: (text: string) => number,
): Value {
  if (typeof value !== 'string')
    throw new MongoError(code, `${name} requires a string argument, found: ${typeName(value)}`);
  return measure(checkedText(value));
}

function indexArgument(value: Value, name: string, what: string): number {
  const at = isNumber(value) ? wholeInt32(value) : undefined;
  if (at === undefined)
    throw new MongoError(
      'Location40096',
      `${name} requires an integral ${what} index, found a value of type: ${typeName(value)}`,
    );
  if (at < 0)
    throw new MongoError(
      'Location40097',
      `${name} requires a nonnegative ${what} index, found: ${at}`,
    );
  return at;
}

function indexOf(values: readonly Value[], kind: 'Bytes' | 'CP'): Value {
  const [text, part, from, to] = values;
  const name = `$indexOf${kind}`;
  if (isNullish(text)) return null;
  if (typeof text !== 'string')
    throw new MongoError(
      kind === 'Bytes' ? 'Location40091' : 'Location40093',
      `${name} requires a string as the first argument, found: ${typeName(text)}`,
    );
  if (typeof part !== 'string')
    throw new MongoError(
      kind === 'Bytes' ? 'Location40092' : 'Location40094',
      `${name} requires a string as the second argument, found: ${typeName(part)}`,
    );
  checkedText(text);
  checkedText(part);
  const start = values.length > 2 ? indexArgument(from, name, 'starting') : 0;
  const stop = values.length > 3 ? indexArgument(to, name, 'ending') : Number.POSITIVE_INFINITY;
  return kind === 'Bytes'
    ? byteIndex(text, part, start, stop)
    : pointIndex(text, part, start, stop);
}

function byteIndex(text: string, part: string, start: number, stop: number): number {
  const bytes = Buffer.from(text);
  const end = Math.min(stop, bytes.length);
  if (start > end) return -1;
  const wanted = Buffer.from(part);
  const at = wanted.length === 0 ? start : bytes.subarray(0, end).indexOf(wanted, start);
  return at;
}

function pointIndex(text: string, part: string, start: number, stop: number): number {
  const length = codePoints(text);
  const end = Math.min(stop, length);
  if (start > end) return -1;
  // A match must begin before the end; it may go beyond it.
  const at = text.indexOf(part, unitOfCodePoint(text, start));
  if (at < 0) return -1;
  const found = codePoints(text.slice(0, at));
  return found < end || (part === '' && length === 0) ? found : -1;
}

function trim(isLeft: boolean, isRight: boolean): CompileOperator {
  return (argument, scope, name) => {
    if (!isDocument(argument))
      throw new MongoError(
        'Location50696',
        `${name} only supports an object as an argument, found ${typeName(argument)}`,
      );
    const options = parseOptions(argument, name, {
      notObject: 'Location50696',
      unknown: 'Location50694',
      required: { input: 'Location50695' },
      optional: ['chars'],
    });
    const input = scope.compile(options.get('input') as Bson);
    const chars = compileOption(options, 'chars', scope);
    return folded(
      (frame) => {
        const text = input(frame);
        if (isNullish(text)) return null;
        if (typeof text !== 'string')
          throw new MongoError(
            'Location50699',
            `${name} requires its input to be a string, got ${typeName(text)} instead.`,
          );
        checkedText(text);
        if (chars === undefined) return trimmed(text, SPACES, isLeft, isRight);
        const set = chars(frame);
        if (isNullish(set)) return null;
        if (typeof set !== 'string')
          throw new MongoError(
            'Location50700',
            `${name} requires 'chars' to be a string, got ${typeName(set)} instead.`,
          );
        return trimmed(text, new Set(set), isLeft, isRight);
      },
      [input, chars],
    );
  };
}

/** What MongoDB takes for white space. */
const SPACES: ReadonlySet<string> = new Set(
  '\u0000\u0020\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a',
);

function trimmed(
  text: string,
  chars: ReadonlySet<string>,
  isLeft: boolean,
  isRight: boolean,
): string {
  let start = 0;
  let stop = text.length;
  if (isLeft)
    while (start < stop) {
      const point = String.fromCodePoint(text.codePointAt(start) as number);
      if (!chars.has(point)) break;
      start += point.length;
    }
  if (isRight)
    while (stop > start) {
      const unit = text.charCodeAt(stop - 1);
      const width = unit >= 0xdc00 && unit < 0xe000 && stop - 1 > start ? 2 : 1;
      if (!chars.has(text.slice(stop - width, stop))) break;
      stop -= width;
    }
  return text.slice(start, stop);
}

function replace(isAll: boolean): CompileOperator {
  return (argument, scope, name) => {
    const options = parseOptions(argument, name, {
      notObject: 'Location51751',
      unknown: 'Location51750',
      required: { input: 'Location51749', find: 'Location51748', replacement: 'Location51747' },
    });
    const parts = (
      [
        ['input', 'Location10503904'],
        ['find', 'Location10503901'],
        ['replacement', 'Location10503902'],
      ] as const
    ).map(([option, code]) => [option, scope.compile(options.get(option) as Bson), code] as const);
    const evaluate: Evaluate = (frame) => {
      const texts = parts.map(([option, part, code]) => {
        const value = part(frame);
        if (isNullish(value) || typeof value === 'string') return value;
        throw new MongoError(
          code,
          `${name} requires that '${option}' be a string, found: ${typeName(value)}`,
        );
      });
      if (texts.some(isNullish)) return null;
      const [text, find, by] = texts as [string, string, string];
      checkedText(text);
      if (!isAll) {
        const at = text.indexOf(find);
        return at < 0 ? text : checkedText(text.slice(0, at) + by + text.slice(at + find.length));
      }
      const pieces = find === '' ? ['', ...text] : text.split(find);
      if ((pieces.length - 1) * by.length + text.length > TEXT_UNITS_MAX) throw tooLongText();
      draw(2 * (text.length + pieces.length * by.length));
      return checkedText(find === '' ? pieces.join(by) + by : pieces.join(by));
    };
    return folded(
      evaluate,
      parts.map(([, part]) => part),
    );
  };
}

const TEXT_UNITS_MAX = 16 * 1024 * 1024;

function tooLongText(): MongoError {
  return new MongoError('Location16493', 'Tried to create string longer than 16MB');
}

function split(text: Value, by: Value): Value {
  if (isNullish(text) || isNullish(by)) return null;
  if (typeof text !== 'string')
    throw new MongoError(
      'Location40085',
      `$split requires an expression that evaluates to a string as a first argument, found: ${typeName(text)}`,
    );
  if (typeof by !== 'string')
    throw new MongoError(
      'Location10503900',
      `$split requires an expression that evaluates to a string as a second argument, found: ${typeName(by)}`,
    );
  if (by === '') throw new MongoError('Location40087', '$split requires a non-empty separator');
  draw(text.length * 2);
  return checkedText(text).split(by);
}

const INT64_MIN = -(2 ** 63);

/** A number of bytes or characters, as `$substrBytes` takes it. */
function byteArgument(value: Value, code: 'Location16034' | 'Location16035', what: string): number {
  if (!isNumber(value))
    throw new MongoError(
      code,
      `$substrBytes:  ${what} must be a numeric type (is BSON type ${typeName(value)})`,
    );
  if (isDecimal(value)) {
    const exact = integerOfDecimal(digitsOf(value as Bson), 'even');
    return exact === undefined || !fitsInt64(exact) ? INT64_MIN : Number(exact);
  }
  const double = doubleOf(value as Bson);
  if (value instanceof Double && !(Math.abs(double) < -INT64_MIN))
    throw new MongoError('Location31109', "Can't coerce out of range value to long");
  return Math.trunc(double);
}

function substrBytes(values: readonly Value[]): Value {
  const [value, from, count] = values;
  const text = checkedText(coercedText(value));
  const start = byteArgument(from, 'Location16034', 'starting index');
  const length = byteArgument(count, 'Location16035', 'length');
  if (start < 0)
    throw new MongoError(
      'Location50752',
      `$substrBytes: starting index must be non-negative (got: ${start})`,
    );
  const bytes = Buffer.from(text);
  const isInside = (at: number): boolean =>
    at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80;
  if (isInside(start))
    throw new MongoError(
      'Location28656',
      '$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.',
    );
  const stop = length < 0 ? bytes.length : Math.min(bytes.length, start + length);
  if (length >= 0 && isInside(stop))
    throw new MongoError(
      'Location28657',
      '$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.',
    );
  return start >= bytes.length ? '' : bytes.toString('utf8', start, stop);
}

function pointArgument(
  value: Value,
  type: 'Location34450' | 'Location34452',
  whole: 'Location34451' | 'Location34453',
  what: string,
): number {
  if (!isNumber(value))
    throw new MongoError(
      type,
      `$substrCP: ${what} must be a numeric type (is BSON type ${typeName(value)})`,
    );
  const exact = wholeInt32(value);
  if (exact === undefined)
    throw new MongoError(
      whole,
      `$substrCP: ${what} cannot be represented as a 32-bit integral value`,
    );
  return exact;
}

function substrCodePoints(values: readonly Value[]): Value {
  const [value, from, count] = values;
  const text = checkedText(coercedText(value));
  const start = pointArgument(from, 'Location34450', 'Location34451', 'starting index');
  const length = pointArgument(count, 'Location34452', 'Location34453', 'length');
  if (length < 0)
    throw new MongoError('Location34454', '$substrCP: length must be a nonnegative integer.');
  if (start < 0)
    throw new MongoError('Location34455', '$substrCP: the starting index must be nonnegative.');
  const at = unitOfCodePoint(text, start);
  const rest = text.slice(at);
  return rest.slice(0, unitOfCodePoint(rest, length));
}
