/** Parses the text of a type, as statements and system_schema have it. */
import { invalid, syntaxError } from '../errors.ts';
import { NESTING_MAX } from '../limits.ts';
import {
  type CollectionType,
  type CqlType,
  frozen,
  hasDuration,
  isCollection,
  isMultiCell,
  isNative,
  nativeNamed,
  typeText,
  type UserType,
} from './cql-type.ts';

/** The types that clients have created in a keyspace. */
export interface UserTypes {
  readonly keyspace: string;
  find(name: string): UserType | undefined;
}

const NO_USER_TYPES: UserTypes = { keyspace: '', find: () => undefined };

/** Throws CqlError for a text that is no type. */
export function parseType(text: string, types: UserTypes = NO_USER_TYPES): CqlType {
  const parser = new TypeParser(text, types);
  const type = parser.type(0);
  parser.end();
  return type;
}

class TypeParser {
  readonly #tokens: readonly string[];
  readonly #text: string;
  readonly #types: UserTypes;
  #at = 0;
  #frozenAround = 0;

  constructor(text: string, types: UserTypes) {
    this.#text = text;
    this.#types = types;
    this.#tokens = text.match(/"(?:[^"]|"")*"|'[^']*'|\w+|[<>,.]|\S/g) ?? [];
  }

  type(depth: number): CqlType {
    if (depth > NESTING_MAX) throw syntaxError('The type is nested too deeply');
    const isQuoted = this.#tokens[this.#at]?.startsWith('"') === true;
    const name = this.#name();
    if (isQuoted || (this.#tokens[this.#at] !== '<' && name !== 'tuple')) return this.#named(name);
    switch (name) {
      case 'frozen': {
        this.#frozenAround++;
        const inner = this.#one(depth);
        this.#frozenAround--;
        return frozenType(inner);
      }
      case 'list':
      case 'set':
        return this.#checked({ kind: name, element: this.#one(depth), isFrozen: false });
      case 'map': {
        const [key, value] = this.#arguments(depth);
        if (key === undefined || value === undefined) throw this.#wrong();
        return this.#checked({ kind: 'map', key, value, isFrozen: false });
      }
      case 'tuple': {
        const elements = this.#arguments(depth);
        if (elements.some((element) => isNative(element, 'counter')))
          throw invalid('Counters are not allowed inside tuples');
        return { kind: 'tuple', elements: elements.map(frozen) };
      }
      default:
        throw this.#wrong();
    }
  }

  end(): void {
    if (this.#at !== this.#tokens.length) throw this.#wrong();
  }

  #checked(type: CollectionType): CqlType {
    checkElements(type, this.#frozenAround > 0 ? frozen(type) : type);
    return type;
  }

  #named(name: string): CqlType {
    const known = nativeNamed(name);
    if (this.#tokens[this.#at] === '.') {
      this.#at++;
      return this.#user(name, this.#name());
    }
    return known ?? this.#user(undefined, name);
  }

  #user(keyspace: string | undefined, name: string): CqlType {
    const own = this.#types.keyspace;
    if (keyspace !== undefined && keyspace !== own)
      throw invalid(
        `Statement on keyspace ${own} cannot refer to a user type in keyspace ${keyspace}; user types can only be used in the keyspace they are defined in`,
      );
    const found = this.#types.find(name);
    if (found === undefined) throw invalid(`Unknown type ${own}.${name}`);
    return found;
  }

  #one(depth: number): CqlType {
    const [only, second] = this.#arguments(depth);
    if (only === undefined || second !== undefined) throw this.#wrong();
    return only;
  }

  #arguments(depth: number): readonly CqlType[] {
    if (this.#tokens[this.#at++] !== '<') throw this.#wrong();
    const types: CqlType[] = [];
    for (;;) {
      types.push(this.type(depth + 1));
      const next = this.#tokens[this.#at++];
      if (next === '>') return types;
      if (next !== ',') throw this.#wrong();
    }
  }

  #name(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw this.#wrong();
    if (token.startsWith('"')) return token.slice(1, -1).replaceAll('""', '"');
    if (token.startsWith("'")) return className(token.slice(1, -1));
    if (!/^\w+$/.test(token)) throw this.#wrong();
    return token.toLowerCase();
  }

  #wrong() {
    return syntaxError(`Cannot parse the type '${this.#text}'`);
  }
}

/** Native types by the names of Cassandra's classes. */
const CLASSES: Readonly<Record<string, string>> = {
  AsciiType: 'ascii',
  BooleanType: 'boolean',
  ByteType: 'tinyint',
  BytesType: 'blob',
  CounterColumnType: 'counter',
  DecimalType: 'decimal',
  DoubleType: 'double',
  DurationType: 'duration',
  FloatType: 'float',
  InetAddressType: 'inet',
  Int32Type: 'int',
  IntegerType: 'varint',
  LongType: 'bigint',
  ShortType: 'smallint',
  SimpleDateType: 'date',
  TimeType: 'time',
  TimeUUIDType: 'timeuuid',
  TimestampType: 'timestamp',
  UTF8Type: 'text',
  UUIDType: 'uuid',
};

function className(text: string): string {
  const short = text.replace(/^org\.apache\.cassandra\.db\.marshal\./, '');
  const known = Object.hasOwn(CLASSES, short) ? CLASSES[short] : undefined;
  if (known === undefined) throw invalid(`Unable to find abstract-type class '${text}'`);
  return known;
}

function frozenType(type: CqlType): CqlType {
  if (type.kind === 'native')
    throw invalid(
      `frozen<> is only allowed on collections, tuples, and user-defined types (got ${typeText(type)})`,
    );
  return frozen(type);
}

/** What a collection cannot hold. A collection in a collection is checked where it is known whether all is frozen. */
function checkElements(type: CollectionType, shown: CqlType): void {
  const inner = type.kind === 'map' ? [type.key, type.value] : [type.element];
  if (inner.some((part) => isNative(part, 'counter')))
    throw invalid(`Counters are not allowed inside collections: ${typeText(shown)}`);
  const key = type.kind === 'map' ? type.key : type.kind === 'set' ? type.element : undefined;
  if (key !== undefined && hasDuration(key))
    throw invalid(
      type.kind === 'map'
        ? `Durations are not allowed as map keys: ${typeText(shown)}`
        : `Durations are not allowed inside sets: ${typeText(shown)}`,
    );
}

/**
 * The type of a column or field: refuses what must be frozen and is not.
 * @param text - of the type, as it was written.
 */
export function checkNesting(type: CqlType, text: string): CqlType {
  if (!isMultiCell(type) || !isCollection(type)) return type;
  const inner = type.kind === 'map' ? [type.key, type.value] : [type.element];
  for (const part of inner) {
    if (isCollection(part) && !part.isFrozen)
      throw invalid(`Non-frozen collections are not allowed inside collections: ${text}`);
    if (part.kind === 'user' && !part.isFrozen)
      throw invalid(`Non-frozen UDTs are not allowed inside collections: ${text}`);
  }
  return type;
}
