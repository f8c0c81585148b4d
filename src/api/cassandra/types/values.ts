/** Values of any type: checks of bytes, elements of collections, JSON both ways. */
import { type Bytes, bufferOf, EMPTY_BYTES } from '../../../base/index.ts';
import { Extended, isList, isMap, type Value } from '../../../value/index.ts';
import { invalid } from '../errors.ts';
import { type CqlType, typeText } from './cql-type.ts';
import { NATIVE_VALUES } from './native-values.ts';

/** Refuses bytes that are no value of the type, as Cassandra does at the door. */
export function checkValue(type: CqlType, bytes: Bytes): void {
  switch (type.kind) {
    case 'native': {
      const { lengths, check } = NATIVE_VALUES[type.name];
      if (lengths !== undefined && !lengths.includes(bytes.length))
        throw invalid(
          `Expected ${lengths.join(' or ')} byte${lengths.includes(1) ? '' : 's'} for a ${type.name} (${bytes.length})`,
        );
      check?.(bytes);
      return;
    }
    case 'list':
    case 'set':
      for (const element of elementsOf(bytes)) checkElement(type.element, element);
      return;
    case 'map':
      for (const [key, value] of entriesOf(bytes)) {
        checkElement(type.key, key);
        checkElement(type.value, value);
      }
      return;
    default:
      componentsOf(type, bytes).forEach((part, at) => {
        if (part !== undefined) checkValue(componentTypes(type)[at] as CqlType, part);
      });
  }
}

function checkElement(type: CqlType, bytes: Bytes | undefined): void {
  if (bytes === undefined) throw invalid('null is not supported inside collections');
  checkValue(type, bytes);
}

/** The types of the fields of a tuple or of a type of a client. */
export function componentTypes(
  type: Extract<CqlType, { kind: 'tuple' | 'user' }>,
): readonly CqlType[] {
  return type.kind === 'tuple' ? type.elements : type.fields.map((field) => field.type);
}

/** The elements of a list or set. */
export function elementsOf(bytes: Bytes): readonly (Bytes | undefined)[] {
  const reader = new PartReader(bytes);
  const count = reader.count(4);
  const elements = Array.from({ length: count }, () => reader.part());
  reader.end();
  return elements;
}

export function entriesOf(
  bytes: Bytes,
): readonly (readonly [Bytes | undefined, Bytes | undefined])[] {
  const reader = new PartReader(bytes);
  const count = reader.count(8);
  const entries = Array.from({ length: count }, () => [reader.part(), reader.part()] as const);
  reader.end();
  return entries;
}

/** The fields of a tuple; those behind the end are undefined. */
export function componentsOf(
  type: Extract<CqlType, { kind: 'tuple' | 'user' }>,
  bytes: Bytes,
): readonly (Bytes | undefined)[] {
  const reader = new PartReader(bytes);
  const parts = componentTypes(type).map(() => (reader.isAtEnd ? undefined : reader.part()));
  reader.end();
  return parts;
}

/** The bytes of a list, a set, or a map as alternating keys and values. */
export function collectionBytes(count: number, parts: readonly Bytes[]): Bytes {
  const head = Buffer.allocUnsafe(4);
  head.writeInt32BE(count);
  return Buffer.concat([head, ...parts.flatMap((part) => [lengthBytes(part), part])]);
}

export function tupleBytes(parts: readonly (Bytes | undefined)[]): Bytes {
  return Buffer.concat(
    parts.flatMap((part) => (part === undefined ? [NULL_LENGTH] : [lengthBytes(part), part])),
  );
}

const NULL_LENGTH = Uint8Array.of(0xff, 0xff, 0xff, 0xff);

function lengthBytes(part: Bytes): Bytes {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(part.length);
  return bytes;
}

class PartReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bufferOf(bytes);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  count(bytesEach: number): number {
    const count = this.#int();
    if (count < 0 || count * bytesEach > this.#bytes.length - this.#at) throw malformed();
    return count;
  }

  part(): Bytes | undefined {
    const length = this.#int();
    if (length < 0) return undefined;
    if (this.#at + length > this.#bytes.length) throw malformed();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw malformed();
  }

  #int(): number {
    if (this.#at + 4 > this.#bytes.length) throw malformed();
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }
}

function malformed() {
  return invalid('Not enough bytes to read the value of a collection, tuple or user type');
}

/** The documented JSON of a value; an empty value of a type without empty texts is the empty text. */
export function jsonOf(type: CqlType, bytes: Bytes): Value {
  if (type.kind === 'native')
    return bytes.length === 0 && type.name !== 'blob' ? '' : NATIVE_VALUES[type.name].json(bytes);
  if (bytes.length === 0) return '';
  switch (type.kind) {
    case 'list':
    case 'set':
      return elementsOf(bytes).map((element) => jsonOfPart(type.element, element));
    case 'map':
      return Object.fromEntries(
        entriesOf(bytes).map(([key, value]) => [
          key === undefined ? 'null' : keyText(jsonOf(type.key, key)),
          jsonOfPart(type.value, value),
        ]),
      );
    case 'tuple':
      return componentsOf(type, bytes).map((part, at) =>
        jsonOfPart(type.elements[at] as CqlType, part),
      );
    case 'user':
      return Object.fromEntries(
        componentsOf(type, bytes).map((part, at) => {
          const field = type.fields[at] as (typeof type.fields)[number];
          return [field.name, jsonOfPart(field.type, part)];
        }),
      );
  }
}

function jsonOfPart(type: CqlType, bytes: Bytes | undefined): Value {
  return bytes === undefined ? null : jsonOf(type, bytes);
}

/** The name of a property for the key of a map. */
function keyText(value: Value): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Bytes of the type from its JSON; throws CqlError where the JSON does not fit. */
export function bytesOfJson(type: CqlType, value: Value): Bytes {
  switch (type.kind) {
    case 'native': {
      const text = scalarText(value);
      if (text === undefined) throw unfit(type, value);
      if (text === '' && type.name !== 'text' && type.name !== 'ascii') return EMPTY_BYTES;
      const bytes = NATIVE_VALUES[type.name].parse(text);
      NATIVE_VALUES[type.name].check?.(bytes);
      return bytes;
    }
    case 'list':
    case 'set': {
      if (!isList(value)) throw unfit(type, value);
      return collectionBytes(
        value.length,
        value.map((element) => bytesOfJson(type.element, element)),
      );
    }
    case 'map': {
      if (!isMap(value)) throw unfit(type, value);
      const entries = Object.entries(value);
      return collectionBytes(
        entries.length,
        entries.flatMap(([key, element]) => [
          bytesOfJson(type.key, type.key.kind === 'native' ? key : parsedKey(key)),
          bytesOfJson(type.value, element),
        ]),
      );
    }
    case 'tuple': {
      if (!isList(value) || value.length > type.elements.length) throw unfit(type, value);
      return tupleBytes(type.elements.map((element, at) => optionalBytes(element, value[at])));
    }
    case 'user': {
      if (!isMap(value)) throw unfit(type, value);
      return tupleBytes(type.fields.map((field) => optionalBytes(field.type, value[field.name])));
    }
  }
}

/** The key of a map that is no scalar is the text of its JSON. */
function parsedKey(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}

function optionalBytes(type: CqlType, value: Value): Bytes | undefined {
  return value === undefined || value === null ? undefined : bytesOfJson(type, value);
}

function scalarText(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return plainNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (!(value instanceof Extended)) return undefined;
  const { payload } = value;
  if (payload.kind === 'int64') return payload.value.toString();
  return payload.kind === 'decimal' ? payload.digits : undefined;
}

/** Without an exponent where the number is an integer. */
function plainNumber(value: number): string {
  if (Number.isInteger(value) && !Object.is(value, -0)) return BigInt(value).toString();
  return Object.is(value, -0) ? '-0' : String(value);
}

function unfit(type: CqlType, value: Value) {
  const text = JSON.stringify(value) ?? 'undefined';
  return invalid(`Expected a value of type ${typeText(type)}, but got: ${text.slice(0, 50)}`);
}
