/** Values from JSON, with Cassandra's rules: texts are read as constants, collections also from texts of JSON. */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import { CqlError, invalid } from '../errors.ts';
import type { CqlType, NativeName } from './cql-type.ts';
import { JsonNumber, type JsonValue, parseJson } from './json-text.ts';
import { NATIVE_VALUES } from './native-values.ts';
import { compareTyped } from './ordered.ts';
import { collectionBytes, tupleBytes } from './values.ts';

/** Bytes of a type; throws CqlError where the value is none of it. */
export function jsonBytes(type: CqlType, given: JsonValue): Bytes {
  switch (type.kind) {
    case 'native':
      return nativeBytes(type.name, given);
    case 'list': {
      const value = whole(given);
      if (!Array.isArray(value)) throw unexpected('Expected a list', value);
      return collectionBytes(value.length, elementBytes(type.element, value, 'list'));
    }
    case 'set': {
      const value = whole(given);
      if (!Array.isArray(value)) throw unexpected('Expected a list (representing a set)', value);
      const unique = new Map(
        elementBytes(type.element, value, 'set').map((one) => [bytesToLatin1(one), one]),
      );
      const sorted = [...unique.values()].sort((a, b) => compareTyped(type.element, a, b));
      return collectionBytes(sorted.length, sorted);
    }
    case 'map':
      return mapBytes(type, whole(given));
    case 'tuple':
      return tupleOf(type, whole(given));
    case 'user':
      return userOf(type, whole(given));
  }
}

/** A text in place of a collection is JSON once more. */
function whole(value: JsonValue): JsonValue {
  return typeof value === 'string' ? parseJson(value) : value;
}

function elementBytes(
  type: CqlType,
  elements: readonly JsonValue[],
  what: 'list' | 'set',
): readonly Bytes[] {
  return elements.map((element) => {
    if (element === null) throw invalid(`Invalid null element in ${what}`);
    return jsonBytes(type, element);
  });
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

function mapBytes(type: Extract<CqlType, { kind: 'map' }>, value: JsonValue): Bytes {
  if (!isObject(value)) throw unexpected('Expected a map', value);
  const entries = Object.entries(value).map(([key, element]) => {
    if (element === null) throw invalid('Invalid null value in map');
    return [jsonBytes(type.key, key), jsonBytes(type.value, element)] as const;
  });
  const unique = new Map(entries.map((entry) => [bytesToLatin1(entry[0]), entry]));
  const sorted = [...unique.values()].sort(([a], [b]) => compareTyped(type.key, a, b));
  return collectionBytes(sorted.length, sorted.flat());
}

function tupleOf(type: Extract<CqlType, { kind: 'tuple' }>, value: JsonValue): Bytes {
  if (!Array.isArray(value)) throw unexpected('Expected a list representation of a tuple', value);
  const { elements } = type;
  if (value.length > elements.length)
    throw invalid(`Tuple contains extra items (expected ${elements.length}): ${shown(value)}`);
  if (value.length < elements.length)
    throw invalid(`Tuple is missing items (expected ${elements.length}): ${shown(value)}`);
  return tupleBytes(elements.map((element, at) => optional(element, value[at] ?? null)));
}

function userOf(type: Extract<CqlType, { kind: 'user' }>, given: JsonValue): Bytes {
  if (!isObject(given)) throw unexpected('Expected a map', given);
  const value = withPlainNames(given);
  const unknown = [...value.keys()].find((name) => !type.fields.some((one) => one.name === name));
  if (unknown !== undefined)
    throw invalid(`Unknown field '${unknown}' in value of user defined type ${type.name}`);
  return tupleBytes(
    type.fields.map((field) => optional(field.type, value.get(field.name) ?? null)),
  );
}

/** Names of columns and fields: in lower case, unless they are quoted once more. */
export function withPlainNames(value: {
  readonly [name: string]: JsonValue;
}): ReadonlyMap<string, JsonValue> {
  const quoted = /^"(.*)"$/s;
  return new Map(
    Object.entries(value).map(([name, inner]) => [
      quoted.exec(name)?.[1] ?? name.toLowerCase(),
      inner,
    ]),
  );
}

function optional(type: CqlType, value: JsonValue): Bytes | undefined {
  return value === null ? undefined : jsonBytes(type, value);
}

const INTEGERS: Readonly<Partial<Record<NativeName, string>>> = {
  bigint: 'a bigint',
  counter: 'a bigint',
  int: 'an int',
  smallint: 'a short',
  tinyint: 'a byte',
};

const TEXTS: Readonly<Partial<Record<NativeName, string>>> = {
  ascii: 'an ascii string',
  text: 'a UTF-8 string',
  date: 'a string representation of a date value',
  duration: 'a string representation of a duration',
  inet: 'a string representation of an inet value',
  time: 'a string representation of a time value',
  timeuuid: 'a string representation of a timeuuid',
  uuid: 'a string representation of a uuid',
};

function nativeBytes(name: NativeName, value: JsonValue): Bytes {
  const { parse, check } = NATIVE_VALUES[name];
  const checked = (text: string): Bytes => {
    const bytes = parse(text);
    check?.(bytes);
    return bytes;
  };
  const expected = TEXTS[name];
  if (expected !== undefined) {
    if (typeof value !== 'string') throw unexpected(`Expected ${expected}`, value);
    return checked(value);
  }
  const integer = INTEGERS[name];
  if (integer !== undefined) {
    if (typeof value === 'string') return checked(value);
    if (!(value instanceof JsonNumber) || !isInteger(value) || !fits(name, value))
      throw unexpected(`Expected ${integer} value`, value);
    return checked(value.text);
  }
  switch (name) {
    case 'blob':
      return blobBytes(value);
    case 'boolean':
      if (typeof value === 'string') return checked(value);
      if (typeof value !== 'boolean') throw unexpected('Expected a boolean value', value);
      return checked(String(value));
    case 'timestamp':
      if (typeof value === 'string') return checked(value);
      if (!(value instanceof JsonNumber) || !isInteger(value))
        throw unexpected(
          'Expected a long or a datestring representation of a timestamp value',
          value,
        );
      return NATIVE_VALUES.bigint.parse(value.text);
    case 'float':
    case 'double':
      if (typeof value !== 'string' && !(value instanceof JsonNumber))
        throw unexpected(`Expected a ${name} value`, value);
      return checked(typeof value === 'string' ? value : value.text);
    default:
      return anyNumber(name, value);
  }
}

/** Decimals and varints, whose refusals name the value alone. */
function anyNumber(name: NativeName, value: JsonValue): Bytes {
  const text = value instanceof JsonNumber ? value.text : typeof value === 'string' ? value : '';
  try {
    return NATIVE_VALUES[name].parse(text);
  } catch (error) {
    if (!(error instanceof CqlError)) throw error;
    throw invalid(`Value '${shown(value)}' is not a valid representation of a ${name} value`);
  }
}

function blobBytes(value: JsonValue): Bytes {
  const problem = (why: string) =>
    invalid(`Value '${shown(value)}' is not a valid blob representation: ${why}`);
  if (typeof value !== 'string') throw problem('not a string');
  if (!value.startsWith('0x'))
    throw problem(`String representation of blob is missing 0x prefix: ${value}`);
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(value))
    throw problem(`Non-hex characters in ${value.slice(2)}`);
  return Buffer.from(value.slice(2), 'hex');
}

function isInteger({ text }: JsonNumber): boolean {
  return /^-?\d+$/.test(text);
}

function fits(name: NativeName, { text }: JsonNumber): boolean {
  const bits = { tinyint: 8, smallint: 16, int: 32 }[name as string] ?? 64;
  const value = BigInt(text);
  return BigInt.asIntN(bits, value) === value;
}

function unexpected(expected: string, value: JsonValue) {
  return invalid(`${expected}, but got a ${className(value)}: ${shown(value)}`);
}

/** As Java names it. */
function className(value: JsonValue): string {
  if (value instanceof JsonNumber) {
    if (!isInteger(value)) return 'Double';
    if (fits('int', value)) return 'Integer';
    return fits('bigint', value) ? 'Long' : 'BigInteger';
  }
  if (typeof value === 'string') return 'String';
  if (typeof value === 'boolean') return 'Boolean';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'ArrayList' : 'LinkedHashMap';
}

/** As Java prints it. */
function shown(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([name, inner]) => `${name}=${shown(inner)}`)
    .join(', ')}}`;
}
