/** `$convert`, its short forms, and what a value is. */
import {
  BSON_TYPES,
  type Bson,
  type BsonDocument,
  type BsonType,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber, wholeInt32 } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { type ConvertOptions, convert, failure, PLAIN } from './convert.ts';
import {
  type CompileOperator,
  compileOption,
  folded,
  isNullish,
  type OperatorTable,
  parseOptions,
  typeName,
  unary,
} from './define.ts';
import { type Evaluate, type Frame, refuseFailing, type Scope } from './scope.ts';
import { checkedText } from './text.ts';

type Value = Bson | undefined;

export const TYPES: OperatorTable = {
  $convert: convertOperator,
  $isNumber: unary((value) => isNumber(value)),
  $toBool: short('bool'),
  $toDate: short('date'),
  $toDecimal: short('decimal'),
  $toDouble: short('double'),
  $toInt: short('int'),
  $toLong: short('long'),
  $toObjectId: short('objectId'),
  $toString: short('string', { ...PLAIN, format: 'auto' }),
  $toUUID: short('binData', { ...PLAIN, format: 'uuid', subtype: 4 }),
  $type: unary((value) => typeName(value)),
};

function short(to: BsonType, options: ConvertOptions = PLAIN): CompileOperator {
  return (argument, scope, name) => {
    const sent = isArray(argument) ? argument : [argument];
    if (sent.length !== 1)
      throw new MongoError(
        'Location50723',
        `${name} requires a single argument, got ${sent.length}`,
      );
    const part = scope.compile(sent[0] as Bson);
    return folded(
      (frame) => {
        const value = part(frame);
        if (isNullish(value)) return null;
        if (typeof value === 'string') checkedText(value);
        return convert(value as Bson, to, options);
      },
      [part],
    );
  };
}

interface Compiled {
  readonly input: Evaluate;
  readonly to: Evaluate;
  /** True where `to` is a document of a type and its options. */
  readonly isNamed: boolean;
  readonly subtype: Evaluate | undefined;
  readonly format: Evaluate | undefined;
  readonly byteOrder: Evaluate | undefined;
  readonly onError: Evaluate | undefined;
  readonly onNull: Evaluate | undefined;
}

function convertOperator(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$convert', {
    notObject: 'FailedToParse',
    unknown: 'FailedToParse',
    required: { input: 'FailedToParse', to: 'FailedToParse' },
    optional: ['onError', 'onNull', 'format', 'byteOrder'],
  });
  const { to, subtype, isNamed } = target(options, scope);
  const compiled: Compiled = {
    input: scope.compile(options.get('input') as Bson),
    to,
    isNamed,
    subtype,
    format: compileOption(options, 'format', scope),
    byteOrder: compileOption(options, 'byteOrder', scope),
    onError: compileOption(options, 'onError', scope),
    onNull: compileOption(options, 'onNull', scope),
  };
  const { input, format, byteOrder, onError, onNull } = compiled;
  for (const part of [onError, onNull]) if (part !== undefined) refuseFailing(part);
  return folded(
    (frame) => run(compiled, frame),
    [input, to, subtype, format, byteOrder, onError, onNull],
  );
}

/** A type, or a document with the type and the subtype of a binary. */
function target(options: BsonDocument, scope: Scope): Pick<Compiled, 'to' | 'subtype' | 'isNamed'> {
  const sent = options.get('to') as Bson;
  const isPlain = !isDocument(sent) || [...sent.keys()][0]?.startsWith('$') === true;
  if (isPlain) return { to: scope.compile(sent), subtype: undefined, isNamed: false };
  const type = sent.get('type');
  if (type === undefined)
    throw new MongoError('FailedToParse', "Missing 'type' parameter to $convert.to");
  const subtype = compileOption(sent, 'subtype', scope);
  return { to: scope.compile(type), subtype, isNamed: true };
}

function run(compiled: Compiled, frame: Frame): Value {
  const value = compiled.input(frame);
  const sentTo = compiled.to(frame);
  if (compiled.isNamed && isNullish(sentTo))
    throw new MongoError('FailedToParse', "$convert's 'to.type' must be a string or number");
  const to = typeOf(sentTo);
  if (isNullish(value)) return compiled.onNull === undefined ? null : compiled.onNull(frame);
  if (to === undefined) return null;
  const format = formatOf(compiled.format?.(frame));
  const isBigEndian = byteOrderOf(compiled.byteOrder?.(frame));
  const subtype = compiled.subtype === undefined ? 0 : subtypeOf(compiled.subtype(frame));
  if (typeof value === 'string') checkedText(value);
  try {
    return convert(value as Bson, to, { format, isBigEndian, subtype });
  } catch (error) {
    if (
      compiled.onError === undefined ||
      !(error instanceof MongoError) ||
      error.mongoCode !== 'ConversionFailure'
    )
      throw error;
    return compiled.onError(frame);
  }
}

const TYPES_BY_CODE: ReadonlyMap<number, BsonType> = new Map(
  Object.entries(BSON_TYPES).map(([name, code]) => [
    code > 127 ? code - 256 : code,
    name as BsonType,
  ]),
);

/** Undefined where the type is null. */
function typeOf(sent: Value): BsonType | undefined {
  if (isNullish(sent)) return undefined;
  if (typeof sent === 'string') {
    if (!Object.hasOwn(BSON_TYPES, sent))
      throw new MongoError('BadValue', `Unknown type name: ${sent}`);
    return sent as BsonType;
  }
  if (!isNumber(sent))
    throw new MongoError(
      'FailedToParse',
      `$convert's 'to' argument must be a string or number, but is ${typeName(sent)}`,
    );
  const code = wholeInt32(sent);
  const type = code === undefined ? undefined : TYPES_BY_CODE.get(code);
  if (code === 0) throw failure('Unsupported conversion to a value that is missing in $convert');
  if (type === undefined)
    throw new MongoError(
      'FailedToParse',
      `In $convert, numeric value for 'to' does not correspond to a BSON type: ${doubleOf(sent as Bson)}`,
    );
  return type;
}

const FORMATS = ['auto', 'base64', 'base64url', 'hex', 'utf8', 'uuid'];

function formatOf(sent: Value): string | undefined {
  if (isNullish(sent)) return undefined;
  if (typeof sent !== 'string')
    throw new MongoError(
      'Location4341114',
      `$convert requires that 'format' be a string, found: ${typeName(sent)}`,
    );
  if (!FORMATS.includes(sent))
    throw new MongoError('Location4341125', `Invalid 'format' argument for $convert: ${sent}`);
  return sent;
}

function byteOrderOf(sent: Value): boolean {
  if (isNullish(sent)) return false;
  if (typeof sent !== 'string')
    throw new MongoError(
      'Location9130001',
      `$convert requires that 'byteOrder' be a string, found: ${typeName(sent)}`,
    );
  if (sent !== 'little' && sent !== 'big')
    throw new MongoError('Location9130002', `Invalid 'byteOrder' argument for $convert: ${sent}`);
  return sent === 'big';
}

const SUBTYPE_USER_MIN = 128;
const SUBTYPES_MAX = 9;

function subtypeOf(sent: Value): number {
  if (!isNumber(sent))
    throw new MongoError(
      'Location4341108',
      `$convert requires that 'subtype' be a number, found: ${typeName(sent)}`,
    );
  const subtype = wholeInt32(sent);
  if (subtype === undefined)
    throw new MongoError('Location4341106', 'In $convert, the subtype must be an integer');
  const isKnown = subtype >= 0 && subtype <= SUBTYPES_MAX;
  if (!isKnown && (subtype < SUBTYPE_USER_MIN || subtype > 255))
    throw new MongoError('Location4341107', `In $convert, invalid binary subtype: ${subtype}`);
  return subtype;
}
