/** Reads GraphSON 1, 2 and 3: typed values, and plain JSON where a client leaves types out. */
import { CODES, malformedRequest } from '../errors.ts';
import { isEnumeration } from '../language/names.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Vertex } from '../model/elements.ts';
import { integerOf, type NumberKind, numberOf } from '../model/number.ts';
import {
  Bytecode,
  EnumValue,
  type Instruction,
  Lambda,
  Predicate,
  Strategy,
} from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { type GremlinRequest, VALUE_NESTING_MAX } from './message.ts';

type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
interface JsonObject {
  readonly [name: string]: Json;
}

export function readGraphsonRequest(body: Uint8Array): GremlinRequest {
  const message = parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8'));
  if (!isObject(message)) throw malformedRequest('The request is not a JSON object.');
  const id = readValue(message.requestId ?? null);
  const { op, processor } = message;
  const args = readValue(message.args ?? {});
  if (typeof op !== 'string' || !(args instanceof GremlinMap))
    throw malformedRequest('The request has no operation or no arguments.');
  return {
    requestId: id instanceof Uuid ? id.text : String(id ?? ''),
    op,
    processor: typeof processor === 'string' ? processor : '',
    args,
  };
}

/** A value of GraphSON 3, as JSON. */
export function readGraphson(json: unknown): GremlinValue {
  return readValue(json as Json);
}

/** Integers that a double does not hold are read from their text. */
function parse(text: string): Json {
  try {
    if (!/\d{16}/.test(text)) return JSON.parse(text) as Json;
    return JSON.parse(text, exactInteger) as Json;
  } catch {
    throw malformedRequest('The request is not JSON.');
  }
}

function exactInteger(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value);
  const source = context?.source ?? '';
  return isInexact && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function readValue(json: Json, depth = 0): GremlinValue {
  if (depth > VALUE_NESTING_MAX) throw malformedRequest('The request is nested too deeply.');
  if (typeof json === 'bigint') return integerOf(json);
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map((member) => readValue(member, depth + 1));
  const map = json as JsonObject;
  const type = map['@type'];
  if (typeof type === 'string') return readTyped(type, map['@value'] ?? null, depth + 1);
  return new GremlinMap(
    Object.entries(map).map(([name, member]) => [name, readValue(member, depth + 1)]),
  );
}

const NUMBERS: Readonly<Record<string, NumberKind>> = {
  'g:Int32': 'int',
  'g:Int64': 'long',
  'g:Double': 'double',
  'g:Float': 'float',
  'gx:Byte': 'byte',
  'gx:Int16': 'short',
  'gx:BigInteger': 'bigInteger',
  'gx:BigDecimal': 'bigDecimal',
};

function readTyped(type: string, json: Json, depth: number): GremlinValue {
  const kind = NUMBERS[type];
  if (kind !== undefined) return readNumber(kind, json, type);
  switch (type) {
    case 'g:UUID':
      return new Uuid(textOf(json, type));
    case 'g:Date':
    case 'g:Timestamp':
    case 'gx:OffsetDateTime':
    case 'gx:Instant':
      return readDate(json, type);
    case 'gx:ByteBuffer':
      return Buffer.from(textOf(json, type), 'base64');
    case 'g:List':
      return listOf(json, type).map((member) => readValue(member, depth));
    case 'g:Set':
      return new GremlinSet(listOf(json, type).map((member) => readValue(member, depth)));
    case 'g:Map':
      return readMap(listOf(json, type), depth);
    case 'g:P':
    case 'g:TextP':
      return readPredicate(objectOf(json, type), depth);
    case 'g:Bytecode':
      return readBytecode(objectOf(json, type), depth);
    case 'g:Binding':
      return readValue(objectOf(json, type).value ?? null, depth);
    case 'g:Lambda':
      return new Lambda(String(objectOf(json, type).script ?? ''));
    case 'g:Class':
      return new Strategy(simpleName(textOf(json, type)), new Map());
    default:
      return readElementOrName(type, json, depth);
  }
}

function readElementOrName(type: string, json: Json, depth: number): GremlinValue {
  const name = type.slice(type.indexOf(':') + 1);
  if (name === 'Vertex') return readVertex(objectOf(json, type), depth);
  if (name === 'Edge') {
    const { id, label } = objectOf(json, type);
    const unknown = new Vertex({ partition: undefined, id: '', key: '' }, 'vertex', undefined);
    const ends = { from: unknown, to: unknown };
    const known = { id: readValue(id ?? null, depth), key: '' };
    return new Edge(known, String(label ?? 'edge'), ends, new Map());
  }
  if (name.endsWith('Strategy')) return readStrategy(name, json, depth);
  if (typeof json === 'string' && isEnumeration(name, json)) return new EnumValue(name, json);
  throw malformedRequest(`Values of type ${type} cannot be read.`, CODES.invalidArguments);
}

/** A vertex that a client sends back: only its id counts. */
function readVertex({ id, label }: JsonObject, depth: number): Vertex {
  return new Vertex(
    { partition: undefined, id: readValue(id ?? null, depth), key: '' },
    String(label ?? 'vertex'),
    undefined,
  );
}

function readNumber(kind: NumberKind, json: Json, type: string): GremlinValue {
  const isWhole = kind !== 'double' && kind !== 'float' && kind !== 'bigDecimal';
  const text = String(json);
  const isRight = isWhole ? /^-?\d+$/.test(text) : text !== '' && !Number.isNaN(Number(text));
  if (!isRight && text !== 'NaN') throw malformedRequest(`${text} is not a ${type}.`);
  return numberOf(kind, isWhole ? BigInt(text) : text);
}

function readDate(json: Json, type: string): Date {
  const date = new Date(typeof json === 'string' ? json : Number(json));
  if (Number.isNaN(date.getTime())) throw malformedRequest(`${String(json)} is not a ${type}.`);
  return date;
}

function readMap(members: readonly Json[], depth: number): GremlinMap {
  const map = new GremlinMap();
  for (let at = 0; at + 1 < members.length; at += 2)
    map.set(readValue(members[at] as Json, depth), readValue(members[at + 1] as Json, depth));
  return map;
}

/** Predicates whose values are a list in one value. */
const LISTED: ReadonlySet<string> = new Set([
  'within',
  'without',
  'between',
  'inside',
  'outside',
  'and',
  'or',
]);

function readPredicate(json: JsonObject, depth: number): Predicate {
  const name = String(json.predicate);
  const value = readValue(json.value ?? null, depth);
  if (!LISTED.has(name)) return new Predicate(name, [value]);
  if (value instanceof GremlinSet) return new Predicate(name, [...value]);
  return new Predicate(name, Array.isArray(value) ? value : [value]);
}

function readBytecode(json: JsonObject, depth: number): Bytecode {
  const instructions = (list: Json | undefined): Instruction[] =>
    listOf(list ?? [], 'g:Bytecode').map((instruction) => {
      const [name, ...args] = listOf(instruction, 'g:Bytecode');
      return { name: String(name), args: args.map((arg) => readValue(arg, depth)) };
    });
  return new Bytecode(instructions(json.source), instructions(json.step));
}

function readStrategy(name: string, json: Json, depth: number): Strategy {
  const settings = isObject(json) ? (json.conf ?? json) : {};
  const read = readValue(settings, depth);
  const entries = read instanceof GremlinMap ? [...read] : [];
  return new Strategy(name, new Map(entries.map(([key, value]) => [String(key), value])));
}

export function simpleName(className: string): string {
  return className.slice(className.lastIndexOf('.') + 1);
}

function textOf(json: Json, type: string): string {
  if (typeof json !== 'string') throw malformedRequest(`${type} needs a text.`);
  return json;
}

function listOf(json: Json, type: string): readonly Json[] {
  if (!Array.isArray(json)) throw malformedRequest(`${type} needs a list.`);
  return json;
}

function objectOf(json: Json, type: string): JsonObject {
  if (!isObject(json)) throw malformedRequest(`${type} needs an object.`);
  return json;
}
