/** Values of the native protocol as JSON shows them: numbers that JSON cannot hold as texts, bytes as 0x… */
export interface CqlType {
  readonly name: string;
  readonly kind: number;
  /** Types of what lists, sets and maps hold, and of the fields of user types and tuples. */
  readonly parts: readonly CqlType[];
  readonly fields: readonly string[];
}

const NAMES: Readonly<Record<number, string>> = {
  1: 'ascii',
  2: 'bigint',
  3: 'blob',
  4: 'boolean',
  5: 'counter',
  6: 'decimal',
  7: 'double',
  8: 'float',
  9: 'int',
  11: 'timestamp',
  12: 'uuid',
  13: 'text',
  14: 'varint',
  15: 'timeuuid',
  16: 'inet',
  17: 'date',
  18: 'time',
  19: 'smallint',
  20: 'tinyint',
  21: 'duration',
};
const CUSTOM = 0;
const LIST = 32;
const MAP = 33;
const SET = 34;
const UDT = 48;
const TUPLE = 49;

export class CqlReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  int(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  short(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  string(): string {
    const length = this.short();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  stringList(): readonly string[] {
    return Array.from({ length: this.short() }, () => this.string());
  }

  skipStrings(count: number): void {
    for (let at = 0; at < count; at++) this.string();
  }

  bytes(): Buffer | null {
    const length = this.int();
    if (length < 0) return null;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  bytesMap(): ReadonlyMap<string, Buffer | null> {
    return new Map(
      Array.from({ length: this.short() }, (): [string, Buffer | null] => [
        this.string(),
        this.bytes(),
      ]),
    );
  }

  type(): CqlType {
    const kind = this.short();
    if (kind === CUSTOM) return plain(kind, this.string());
    if (kind === LIST || kind === SET) {
      const part = this.type();
      return {
        kind,
        name: `${kind === LIST ? 'list' : 'set'}<${part.name}>`,
        parts: [part],
        fields: [],
      };
    }
    if (kind === MAP) {
      const parts = [this.type(), this.type()];
      return { kind, name: `map<${parts.map(({ name }) => name).join(', ')}>`, parts, fields: [] };
    }
    if (kind === UDT) return this.#userType();
    if (kind === TUPLE) {
      const parts = Array.from({ length: this.short() }, () => this.type());
      return {
        kind,
        name: `tuple<${parts.map(({ name }) => name).join(', ')}>`,
        parts,
        fields: [],
      };
    }
    return plain(kind, NAMES[kind] ?? `type ${kind}`);
  }

  #userType(): CqlType {
    this.string();
    const name = this.string();
    const fields: string[] = [];
    const parts = Array.from({ length: this.short() }, () => {
      fields.push(this.string());
      return this.type();
    });
    return { kind: UDT, name, parts, fields };
  }
}

function plain(kind: number, name: string): CqlType {
  return { kind, name, parts: [], fields: [] };
}

export function cqlValue(type: CqlType, bytes: Buffer | null): unknown {
  if (bytes === null) return null;
  switch (type.kind) {
    case LIST:
    case SET: {
      const reader = new CqlReader(bytes);
      const [part] = type.parts as [CqlType];
      return Array.from({ length: reader.int() }, () => cqlValue(part, reader.bytes()));
    }
    case MAP:
      return mapValue(type, new CqlReader(bytes));
    case UDT:
    case TUPLE:
      return fieldsValue(type, new CqlReader(bytes));
    default:
      return plainValue(type.kind, bytes);
  }
}

function mapValue({ parts }: CqlType, reader: CqlReader): unknown {
  const [key, value] = parts as [CqlType, CqlType];
  const entries = Array.from({ length: reader.int() }, () => [
    cqlValue(key, reader.bytes()),
    cqlValue(value, reader.bytes()),
  ]);
  const isText = entries.every(([name]) => typeof name === 'string');
  return isText ? Object.fromEntries(entries) : entries;
}

function fieldsValue({ kind, parts, fields }: CqlType, reader: CqlReader): unknown {
  const values = parts.map((part) => (reader.isAtEnd ? null : cqlValue(part, reader.bytes())));
  return kind === UDT ? Object.fromEntries(fields.map((name, at) => [name, values[at]])) : values;
}

function plainValue(kind: number, bytes: Buffer): unknown {
  if (bytes.length === 0) return kind === 1 || kind === 13 ? '' : kind === 3 ? '0x' : null;
  switch (NAMES[kind]) {
    case 'ascii':
    case 'text':
      return bytes.toString('utf8');
    case 'bigint':
    case 'counter':
      return exact(bytes.readBigInt64BE(0));
    case 'boolean':
      return bytes[0] !== 0;
    case 'decimal':
      return decimal(bytes);
    case 'double':
      return bytes.readDoubleBE(0);
    case 'float':
      return bytes.readFloatBE(0);
    case 'int':
      return bytes.readInt32BE(0);
    case 'smallint':
      return bytes.readInt16BE(0);
    case 'tinyint':
      return bytes.readInt8(0);
    case 'timestamp':
      return new Date(Number(bytes.readBigInt64BE(0))).toISOString();
    case 'uuid':
    case 'timeuuid':
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    case 'varint':
      return exact(signed(bytes));
    case 'inet':
      return inet(bytes);
    case 'date':
      return new Date((bytes.readUInt32BE(0) - 2 ** 31) * 86_400_000).toISOString().slice(0, 10);
    case 'time':
      return time(bytes.readBigInt64BE(0));
    default:
      return `0x${bytes.toString('hex')}`;
  }
}

function exact(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function signed(bytes: Buffer): bigint {
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

function decimal(bytes: Buffer): string {
  const scale = bytes.readInt32BE(0);
  const digits = String(signed(bytes.subarray(4)));
  if (scale <= 0 || scale > 100) return scale === 0 ? digits : `${digits}E${-scale}`;
  const padded = digits.replace('-', '').padStart(scale + 1, '0');
  const text = `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  return digits.startsWith('-') ? `-${text}` : text;
}

function inet(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  return (bytes.toString('hex').match(/.{4}/g) ?? []).join(':');
}

function time(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds / 1_000_000_000n);
  const rest = String(nanoseconds % 1_000_000_000n).padStart(9, '0');
  return `${new Date(seconds * 1000).toISOString().slice(11, 19)}.${rest}`;
}
