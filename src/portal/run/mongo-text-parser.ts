/**
 * Reads what people type into the shell of MongoDB: `db.orders.find({total: {$gt: 10}}).sort({_id: 1})`. The text is
 * parsed as calls with literal arguments and never evaluated: a name that is no known constructor is an error.
 */
import {
  Binary,
  BSONRegExp,
  Decimal128,
  type Document,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'bson';
import { RunError } from './run-error.ts';

interface MongoCall {
  readonly name: string;
  readonly arguments: readonly unknown[];
}

export interface MongoStatement {
  /** Undefined for commands of the database: `db.runCommand({…})`. */
  readonly collection: string | undefined;
  /** The method, then those that are chained to it. */
  readonly calls: readonly MongoCall[];
}

/** Nesting of literals: deeper ones would overflow the stack. */
const NESTING_MAX = 200;

export function parseMongoText(text: string): MongoStatement {
  return new MongoTextParser(text).statement();
}

class MongoTextParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  statement(): MongoStatement {
    this.#expectWord('db');
    const names: string[] = [];
    const calls: MongoCall[] = [];
    for (;;) {
      this.#space();
      if (this.#take('[')) {
        names.push(this.#string());
        this.#expect(']');
      } else if (this.#take('.')) {
        const name = this.#name();
        this.#space();
        if (this.#take('(')) calls.push({ name, arguments: this.#list(')', 0) });
        else names.push(name);
      } else break;
      if (calls.length > 0 && names.length > 1 && calls.length > 20) this.#fail('too many calls');
    }
    this.#take(';');
    this.end();
    if (calls.length === 0) this.#fail('a call is expected, such as db.orders.find({})');
    const [first] = calls;
    if (first?.name === 'getCollection')
      return { collection: String(first.arguments[0]), calls: calls.slice(1) };
    return { collection: names.length === 0 ? undefined : names.join('.'), calls };
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) this.#fail('the text should end here');
  }

  value(depth: number): unknown {
    if (depth > NESTING_MAX) this.#fail('too deeply nested');
    this.#space();
    const next = this.#text[this.#at];
    if (next === '{') return this.#object(depth);
    if (next === '[') {
      this.#at++;
      return this.#list(']', depth);
    }
    if (next === '"' || next === "'" || next === '`') return this.#string();
    if (next === '/') return this.#regex();
    if (next !== undefined && /[-+.\d]/.test(next)) return this.#number();
    return this.#word(depth);
  }

  #object(depth: number): Document {
    this.#expect('{');
    const document: Document = {};
    for (;;) {
      this.#space();
      if (this.#take('}')) return document;
      const next = this.#text[this.#at];
      const name =
        next === '"' || next === "'"
          ? this.#string()
          : /\d/.test(next ?? '')
            ? String(this.#number())
            : this.#name();
      this.#space();
      this.#expect(':');
      const value = this.value(depth + 1);
      Object.defineProperty(document, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
      this.#space();
      if (!this.#take(',') && this.#text[this.#at] !== '}') this.#fail("',' or '}' is expected");
    }
  }

  #list(end: ']' | ')', depth: number): unknown[] {
    const values: unknown[] = [];
    for (;;) {
      this.#space();
      if (this.#take(end)) return values;
      values.push(this.value(depth + 1));
      this.#space();
      if (!this.#take(',') && this.#text[this.#at] !== end)
        this.#fail(`',' or '${end}' is expected`);
    }
  }

  #string(): string {
    this.#space();
    const quote = this.#text[this.#at];
    if (quote !== '"' && quote !== "'" && quote !== '`') this.#fail('a string is expected');
    let result = '';
    for (this.#at++; ; this.#at++) {
      const next = this.#text[this.#at];
      if (next === undefined) this.#fail('the string does not end');
      if (next === quote) break;
      result += next === '\\' ? this.#escape() : next;
    }
    this.#at++;
    return result;
  }

  #escape(): string {
    const next = this.#text[++this.#at] ?? '';
    const plain: Readonly<Record<string, string>> = {
      n: '\n',
      t: '\t',
      r: '\r',
      b: '\b',
      f: '\f',
      '0': '\0',
    };
    if (next !== 'u' && next !== 'x') return plain[next] ?? next;
    const length = next === 'u' ? 4 : 2;
    const digits = this.#text.slice(this.#at + 1, this.#at + 1 + length);
    if (!/^[\da-f]+$/i.test(digits) || digits.length < length) this.#fail('a wrong escape');
    this.#at += length;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #regex(): BSONRegExp {
    let pattern = '';
    for (this.#at++; ; this.#at++) {
      const next = this.#text[this.#at];
      if (next === undefined || next === '\n') this.#fail('the regular expression does not end');
      if (next === '/') break;
      pattern += next;
      if (next === '\\') pattern += this.#text[++this.#at] ?? '';
    }
    this.#at++;
    const flags = this.#match(/[a-z]*/y);
    return new BSONRegExp(pattern, [...flags].sort().join(''));
  }

  #number(): unknown {
    const text = this.#match(
      /[-+]?(?:0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|Infinity)/y,
    );
    const value = Number(text);
    if (text === '' || Number.isNaN(value)) this.#fail('a number is expected');
    if (/^[-+]?\d+$/.test(text)) {
      if (value >= -(2 ** 31) && value < 2 ** 31) return new Int32(value);
      if (Number.isSafeInteger(value)) return Long.fromNumber(value);
      return Long.fromString(text);
    }
    return new Double(value);
  }

  #word(depth: number): unknown {
    const start = this.#at;
    let name = this.#name();
    if (name === 'new') {
      this.#space();
      name = this.#name();
    }
    if (Object.hasOwn(CONSTANTS, name)) return CONSTANTS[name];
    this.#space();
    const make = Object.hasOwn(CONSTRUCTORS, name) ? CONSTRUCTORS[name] : undefined;
    if (make === undefined || !this.#take('(')) {
      this.#at = start;
      this.#fail(`${name} is no value: texts need quotes`);
    }
    const [argument, second] = this.#list(')', depth);
    try {
      return (make as (first: unknown, second: unknown) => unknown)(argument, second);
    } catch (error) {
      throw new RunError(
        'SyntaxError',
        `${name}: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  #name(): string {
    const name = this.#match(/[\p{L}_$][\p{L}\p{N}_$]*/uy);
    if (name === '') this.#fail('a name is expected');
    return name;
  }

  #expectWord(word: string): void {
    this.#space();
    if (this.#name() !== word) this.#fail(`the text begins with ${word}.`);
  }

  #expect(character: string): void {
    if (!this.#take(character)) this.#fail(`'${character}' is expected`);
  }

  #take(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #space(): void {
    this.#match(/(?:\s|\/\/[^\n]*)*/y);
  }

  #fail(message: string): never {
    const before = this.#text.slice(0, this.#at).split('\n');
    throw new RunError(
      'SyntaxError',
      `Line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${message}.`,
    );
  }
}

const CONSTANTS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  null: null,
  undefined: null,
  NaN: new Double(Number.NaN),
  Infinity: new Double(Number.POSITIVE_INFINITY),
  MinKey: new MinKey(),
  MaxKey: new MaxKey(),
};

const CONSTRUCTORS: Readonly<Record<string, (first: unknown, second: unknown) => unknown>> = {
  ObjectId: (text) => (text === undefined ? new ObjectId() : new ObjectId(String(text))),
  ISODate: (text) => dateOf(text),
  Date: (text) => dateOf(text),
  NumberInt: (value) => new Int32(Number(String(value))),
  NumberLong: (value) => Long.fromString(String(value)),
  NumberDecimal: (value) => Decimal128.fromString(String(value)),
  NumberDouble: (value) => new Double(Number(String(value))),
  UUID: (text) => new UUID(String(text)),
  BinData: (type, text) => new Binary(Buffer.from(String(text), 'base64'), Number(String(type))),
  Timestamp: (time, increment) =>
    new Timestamp({ t: Number(String(time)), i: Number(String(increment ?? 0)) }),
  RegExp: (pattern, flags) => new BSONRegExp(String(pattern), String(flags ?? '')),
};

function dateOf(text: unknown): Date {
  if (text === undefined) return new Date();
  const date = new Date(typeof text === 'string' ? text : Number(String(text)));
  if (Number.isNaN(date.getTime())) throw new RunError('SyntaxError', 'no date');
  return date;
}
