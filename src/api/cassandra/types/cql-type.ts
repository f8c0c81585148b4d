/** The types of CQL, and how they are written in statements and in system_schema. */

/** Ids of the native types on the wire. Do not renumber. */
export const NATIVE_CODES = {
  ascii: 0x01,
  bigint: 0x02,
  blob: 0x03,
  boolean: 0x04,
  counter: 0x05,
  decimal: 0x06,
  double: 0x07,
  float: 0x08,
  int: 0x09,
  timestamp: 0x0b,
  uuid: 0x0c,
  text: 0x0d,
  varint: 0x0e,
  timeuuid: 0x0f,
  inet: 0x10,
  date: 0x11,
  time: 0x12,
  smallint: 0x13,
  tinyint: 0x14,
  duration: 0x15,
} as const;

export type NativeName = keyof typeof NATIVE_CODES;

export type CqlType =
  | NativeType
  | { readonly kind: 'list'; readonly element: CqlType; readonly isFrozen: boolean }
  | { readonly kind: 'set'; readonly element: CqlType; readonly isFrozen: boolean }
  | {
      readonly kind: 'map';
      readonly key: CqlType;
      readonly value: CqlType;
      readonly isFrozen: boolean;
    }
  /** A tuple is always frozen. */
  | { readonly kind: 'tuple'; readonly elements: readonly CqlType[] }
  | UserType;

interface NativeType {
  readonly kind: 'native';
  readonly name: NativeName;
}

export interface UserType {
  readonly kind: 'user';
  readonly keyspace: string;
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: CqlType }[];
  readonly isFrozen: boolean;
}

const NATIVES = Object.fromEntries(
  Object.keys(NATIVE_CODES).map((name) => [name, { kind: 'native', name }]),
) as Readonly<Record<NativeName, NativeType>>;

export function native(name: NativeName): NativeType {
  return NATIVES[name];
}

/** `varchar` is another name of `text`. */
export function nativeNamed(name: string): NativeType | undefined {
  const known = name === 'varchar' ? 'text' : name;
  return Object.hasOwn(NATIVES, known) ? NATIVES[known as NativeName] : undefined;
}

export function isNative(type: CqlType, ...names: readonly NativeName[]): boolean {
  return type.kind === 'native' && names.includes(type.name);
}

/** Whether the column keeps one cell for each element. */
export function isMultiCell(type: CqlType): boolean {
  return type.kind !== 'native' && type.kind !== 'tuple' && !type.isFrozen;
}

/** The type where it is nested in another, or a part of a key: one value that is written as a whole. */
export function frozen(type: CqlType): CqlType {
  switch (type.kind) {
    case 'native':
    case 'tuple':
      return type;
    case 'map':
      return { ...type, key: frozen(type.key), value: frozen(type.value), isFrozen: true };
    case 'list':
    case 'set':
      return { ...type, element: frozen(type.element), isFrozen: true };
    case 'user':
      return { ...type, isFrozen: true };
  }
}

/** Whether values of the two types have the same form and meaning; frozen or not does not matter. */
export function isSameType(a: CqlType, b: CqlType): boolean {
  return a === b || typeText(frozen(a)) === typeText(frozen(b));
}

export type CollectionType = Extract<CqlType, { kind: 'list' | 'set' | 'map' }>;

export function isCollection(type: CqlType): type is CollectionType {
  return type.kind === 'list' || type.kind === 'set' || type.kind === 'map';
}

/** The types that a type is made of, itself included. */
export function* partsOfType(type: CqlType): Generator<CqlType> {
  yield type;
  switch (type.kind) {
    case 'native':
      return;
    case 'list':
    case 'set':
      yield* partsOfType(type.element);
      return;
    case 'map':
      yield* partsOfType(type.key);
      yield* partsOfType(type.value);
      return;
    case 'tuple':
      for (const element of type.elements) yield* partsOfType(element);
      return;
    case 'user':
      for (const field of type.fields) yield* partsOfType(field.type);
  }
}

export function hasDuration(type: CqlType): boolean {
  for (const part of partsOfType(type)) if (isNative(part, 'duration')) return true;
  return false;
}

/** How messages name what has durations in it; undefined for a type without. */
export function durationsOf(type: CqlType): string | undefined {
  if (!hasDuration(type)) return undefined;
  if (isCollection(type)) return 'collections containing durations';
  if (type.kind === 'tuple') return 'tuples containing durations';
  return type.kind === 'user' ? 'UDTs containing durations' : 'duration columns';
}

/** As in system_schema.columns. */
export function typeText(type: CqlType): string {
  switch (type.kind) {
    case 'native':
      return type.name;
    case 'list':
    case 'set':
      return wrapped(type.isFrozen, `${type.kind}<${typeText(type.element)}>`);
    case 'map':
      return wrapped(type.isFrozen, `map<${typeText(type.key)}, ${typeText(type.value)}>`);
    case 'tuple':
      return `frozen<tuple<${type.elements.map(typeText).join(', ')}>>`;
    case 'user':
      return wrapped(type.isFrozen, quotedName(type.name));
  }
}

function wrapped(isFrozen: boolean, text: string): string {
  return isFrozen ? `frozen<${text}>` : text;
}

/** A name as it is written in a statement. */
export function quotedName(name: string): string {
  return /^[a-z][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
