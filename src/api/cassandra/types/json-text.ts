/** Values and rows as JSON text, for SELECT JSON and toJson; and texts of JSON with their numbers as they are written. */
import { type Bytes, bytesToText } from '../../../base/index.ts';
import { invalid } from '../errors.ts';
import type { CqlType } from './cql-type.ts';
import { NATIVE_VALUES } from './native-values.ts';
import { componentsOf, elementsOf, entriesOf } from './values.ts';

/** A number of JSON, whose digits may be more than a double holds. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue =
  | null
  | boolean
  | string
  | JsonNumber
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Throws CqlError where the text is no JSON. */
export function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text, numbersAsWritten as (key: string, value: unknown) => unknown);
  } catch (error) {
    if (error instanceof RangeError) throw invalid('The JSON string is nested too deeply');
    if (!(error instanceof SyntaxError)) throw error;
    throw invalid(`Error decoding JSON string: ${error.message}`);
  }
}

function numbersAsWritten(_: string, value: unknown, context: { readonly source?: string }) {
  return typeof value === 'number' ? new JsonNumber(context.source ?? String(value)) : value;
}

/** A row of SELECT JSON. */
export function jsonText(
  columns: readonly { readonly name: string; readonly type: CqlType }[],
  cells: readonly (Bytes | null)[],
): string {
  const parts = columns.map(({ name, type }, at) => {
    const cell = cells[at] ?? null;
    return `${JSON.stringify(label(name))}: ${cell === null ? 'null' : valueJson(type, cell)}`;
  });
  return `{${parts.join(', ')}}`;
}

/** Names that are not all lower case are quoted once more, as in statements. */
function label(name: string): string {
  return name === name.toLowerCase() ? name : `"${name}"`;
}

/** Types whose text is no JSON by itself. */
const QUOTED: ReadonlySet<string> = new Set([
  'ascii',
  'blob',
  'date',
  'duration',
  'inet',
  'text',
  'time',
  'timestamp',
  'timeuuid',
  'uuid',
]);

export function valueJson(type: CqlType, bytes: Bytes): string {
  switch (type.kind) {
    case 'native': {
      if (type.name === 'text' || type.name === 'ascii') return JSON.stringify(bytesToText(bytes));
      if (bytes.length === 0) return type.name === 'blob' ? '"0x"' : '""';
      const text = NATIVE_VALUES[type.name].text(bytes);
      // JSON has no such numbers.
      if (/^-?(?:NaN|Infinity)$/.test(text)) return 'null';
      return QUOTED.has(type.name) ? JSON.stringify(text) : text;
    }
    case 'list':
    case 'set':
      return `[${elementsOf(bytes)
        .map((element) => partJson(type.element, element))
        .join(', ')}]`;
    case 'map':
      return `{${entriesOf(bytes)
        .map(([key, value]) => {
          const name = partJson(type.key, key);
          const quoted = name.startsWith('"') ? name : JSON.stringify(name);
          return `${quoted}: ${partJson(type.value, value)}`;
        })
        .join(', ')}}`;
    case 'tuple':
      return `[${componentsOf(type, bytes)
        .map((part, at) => partJson(type.elements[at] as CqlType, part))
        .join(', ')}]`;
    case 'user':
      return `{${componentsOf(type, bytes)
        .map((part, at) => {
          const field = type.fields[at] as (typeof type.fields)[number];
          return `${JSON.stringify(label(field.name))}: ${partJson(field.type, part)}`;
        })
        .join(', ')}}`;
  }
}

function partJson(type: CqlType, bytes: Bytes | undefined): string {
  return bytes === undefined ? 'null' : valueJson(type, bytes);
}
