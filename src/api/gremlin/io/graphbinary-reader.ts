/** Reads requests in GraphBinary 1. A length is checked against the bytes that are left before anything is made of it. */
import { CODES, malformedRequest } from '../errors.ts';
import { isEnumeration } from '../language/names.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { Edge, Path, Property, Vertex } from '../model/elements.ts';
import { numberOf } from '../model/number.ts';
import {
  BulkedResult,
  Bytecode,
  EnumValue,
  type Instruction,
  Lambda,
  Predicate,
  Strategy,
} from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { ENUM_TYPES, TYPES, VERSION } from './graphbinary-types.ts';
import { simpleName } from './graphson-reader.ts';
import { type GremlinRequest, VALUE_NESTING_MAX } from './message.ts';

export function readGraphbinaryRequest(body: Uint8Array): GremlinRequest {
  const reader = new GraphbinaryReader(body);
  if (reader.byte() !== VERSION) throw malformedRequest('The version of the message is unknown.');
  const requestId = reader.uuid().text;
  const op = reader.text();
  const processor = reader.text();
  return { requestId, op, processor, args: reader.map() };
}

class GraphbinaryReader {
  readonly #bytes: Buffer;
  #at = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** The position of so many bytes, which are then read. */
  #take(count: number): number {
    const at = this.#at;
    if (count < 0 || at + count > this.#bytes.length)
      throw malformedRequest('The message ends too early.');
    this.#at += count;
    return at;
  }

  byte(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  #int(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  #long(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  /** A number of members: each takes at least a byte. */
  #count(): number {
    const count = this.#int();
    if (count < 0 || count > this.#bytes.length - this.#at)
      throw malformedRequest('A length is beyond the end of the message.');
    return count;
  }

  text(): string {
    const length = this.#count();
    const at = this.#take(length);
    return this.#bytes.toString('utf8', at, at + length);
  }

  uuid(): Uuid {
    const at = this.#take(16);
    const hex = this.#bytes.toString('hex', at, at + 16);
    return new Uuid(
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    );
  }

  map(): GremlinMap {
    const map = new GremlinMap();
    for (let left = this.#count(); left > 0; left--) {
      const key = this.#any();
      map.set(key, this.#any());
    }
    return map;
  }

  /** A fully qualified value. */
  #any(): GremlinValue {
    if (++this.#depth > VALUE_NESTING_MAX)
      throw malformedRequest('The request is nested too deeply.');
    const type = this.byte();
    const flag = this.byte();
    const value = flag === 1 ? null : this.#value(type);
    this.#depth--;
    return value;
  }

  #value(type: number): GremlinValue {
    const enumeration = ENUM_TYPES.get(type);
    if (enumeration !== undefined) return this.#enum(enumeration);
    switch (type) {
      case TYPES.int:
        return this.#int();
      case TYPES.long:
        return numberOf('long', this.#long());
      case TYPES.string:
        return this.text();
      case TYPES.date:
      case TYPES.timestamp:
        return new Date(Number(this.#long()));
      case TYPES.double:
        return numberOf('double', this.#bytes.readDoubleBE(this.#take(8)));
      case TYPES.float:
        return numberOf('float', this.#bytes.readFloatBE(this.#take(4)));
      case TYPES.byte:
        return numberOf('byte', this.#bytes.readInt8(this.#take(1)));
      case TYPES.short:
        return numberOf('short', this.#bytes.readInt16BE(this.#take(2)));
      case TYPES.boolean:
        return this.byte() !== 0;
      case TYPES.bigInteger:
        return numberOf('bigInteger', this.#bigInteger());
      case TYPES.bigDecimal:
        return this.#bigDecimal();
      case TYPES.uuid:
        return this.uuid();
      case TYPES.byteBuffer: {
        const length = this.#count();
        const at = this.#take(length);
        return Buffer.from(this.#bytes.subarray(at, at + length));
      }
      case TYPES.offsetDateTime:
        return this.#offsetDateTime();
      default:
        return this.#compound(type);
    }
  }

  #compound(type: number): GremlinValue {
    switch (type) {
      case TYPES.list:
        return this.#list();
      case TYPES.set:
        return new GremlinSet(this.#list());
      case TYPES.map:
        return this.map();
      case TYPES.bytecode:
        return this.#bytecode();
      case TYPES.predicate:
      case TYPES.textPredicate:
        return new Predicate(this.text(), this.#list());
      case TYPES.binding:
        this.text();
        return this.#any();
      case TYPES.lambda:
        return this.#lambda();
      case TYPES.class:
        return new Strategy(simpleName(this.text()), new Map());
      case TYPES.strategy:
        return this.#strategy();
      case TYPES.traverser: {
        const bulk = Number(this.#long());
        return new BulkedResult(this.#any(), bulk);
      }
      case TYPES.vertex:
        return this.#vertex();
      case TYPES.edge:
        return this.#edge();
      case TYPES.path:
        return this.#path();
      case TYPES.property:
        return this.#property();
      default:
        throw malformedRequest(
          `Values of type 0x${type.toString(16)} cannot be read.`,
          CODES.invalidArguments,
        );
    }
  }

  #list(): GremlinValue[] {
    const values: GremlinValue[] = [];
    for (let left = this.#count(); left > 0; left--) values.push(this.#any());
    return values;
  }

  #enum(type: string): EnumValue {
    const name = this.#any();
    if (typeof name !== 'string' || !isEnumeration(type, name))
      throw malformedRequest(`There is no ${type}.${String(name)}.`, CODES.invalidArguments);
    return new EnumValue(type, name);
  }

  #bytecode(): Bytecode {
    const instructions = (): Instruction[] => {
      const list: Instruction[] = [];
      for (let left = this.#count(); left > 0; left--) {
        const name = this.text();
        const args: GremlinValue[] = [];
        for (let more = this.#count(); more > 0; more--) args.push(this.#any());
        list.push({ name, args });
      }
      return list;
    };
    const steps = instructions();
    return new Bytecode(instructions(), steps);
  }

  #lambda(): Lambda {
    this.text();
    const script = this.text();
    this.#int();
    return new Lambda(script);
  }

  #strategy(): Strategy {
    const name = simpleName(this.text());
    return new Strategy(name, new Map([...this.map()].map(([key, value]) => [String(key), value])));
  }

  /** A vertex that a client sends back: only its id counts. */
  #vertex(): Vertex {
    const vertex = this.#reference();
    this.#any();
    return vertex;
  }

  #reference(): Vertex {
    const id = this.#any();
    return new Vertex({ partition: undefined, id, key: '' }, this.text(), undefined);
  }

  #edge(): Edge {
    const id = this.#any();
    const label = this.text();
    const to = this.#reference();
    const from = this.#reference();
    this.#any();
    this.#any();
    return new Edge({ id, key: '' }, label, { from, to }, new Map());
  }

  #path(): Path {
    this.#any();
    const objects = this.#any();
    return new Path(Array.isArray(objects) ? objects : [], []);
  }

  #property(): Property {
    const key = this.text();
    const value = this.#any();
    this.#any();
    const owner = new Vertex({ partition: undefined, id: '', key: '' }, 'vertex', undefined);
    return new Property(key, value, owner);
  }

  #bigInteger(): bigint {
    const length = this.#count();
    if (length === 0) throw malformedRequest('A number has no digits.');
    const at = this.#take(length);
    const bits = BigInt(`0x${this.#bytes.toString('hex', at, at + length)}`);
    return BigInt.asIntN(length * 8, bits);
  }

  #bigDecimal(): GremlinValue {
    const scale = this.#int();
    return numberOf('bigDecimal', decimalText(this.#bigInteger(), scale));
  }

  #offsetDateTime(): Date {
    const year = this.#int();
    const month = this.byte();
    const day = this.byte();
    const nanoseconds = this.#long();
    const offsetSec = this.#int();
    const ms = Date.UTC(year, month - 1, day) + Number(nanoseconds / 1_000_000n) - offsetSec * 1000;
    if (Number.isNaN(ms)) throw malformedRequest('A date is out of range.');
    return new Date(ms);
  }
}

/** Digits with a point before the last `scale` of them. */
function decimalText(unscaled: bigint, scale: number): string {
  if (scale < -1000 || scale > 1000) throw malformedRequest('A number has too many digits.');
  if (scale <= 0) return `${unscaled}${'0'.repeat(-scale)}`;
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
