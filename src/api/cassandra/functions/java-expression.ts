/**
 * Translates simple bodies in Java to JavaScript: `return` of an expression, after `if (…) return …;` where wanted.
 * Expressions have literals, arguments, arithmetic, comparisons, `?:`, concatenation, casts of numbers, methods of
 * `Math`, and `get`, `size`, `length`, `toString`, `equals` of values. Integers overflow and divide as in Java.
 */
import { CqlError } from '../errors.ts';
import { NESTING_MAX } from '../limits.ts';
import type { CqlType } from '../types/cql-type.ts';

type JavaType = 'int' | 'long' | 'double' | 'boolean' | 'text' | 'object';

interface Typed {
  readonly code: string;
  readonly type: JavaType;
}

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[lLdDfF]?)|("(?:[^"\\]|\\.)*")|('(?:[^'\\]|\\.)')|([A-Za-z_]\w*)|(==|!=|<=|>=|&&|\|\||[-+*/%<>!?:(),.;]))/y;

const CHECK_NULL = '$n';
const PRELUDE = `const ${CHECK_NULL} = (x) => { if (x === null || x === undefined) throw new Error('java.lang.NullPointerException'); return x; };`;

const MATH: ReadonlySet<string> = new Set(
  'abs max min sqrt pow floor ceil round log exp sin cos tan signum'.split(' '),
);

/** @returns statements of JavaScript. Throws CqlError for a body that is not simple. */
export function translateJava(
  body: string,
  names: readonly string[],
  types: readonly CqlType[],
  returnType: CqlType,
): string {
  const parameters = new Map(names.map((name, at) => [name, javaType(types[at] as CqlType)]));
  const translator = new Translator(body, parameters);
  const wide = javaType(returnType) === 'long';
  const longs = names.filter((name) => parameters.get(name) === 'long');
  const taken = longs.map((name) => `${name} = ${name} === null ? null : BigInt(${name});`);
  return `${PRELUDE} ${taken.join(' ')} ${translator.statements(wide)}`;
}

function javaType(type: CqlType): JavaType {
  if (type.kind !== 'native') return 'object';
  switch (type.name) {
    case 'int':
    case 'smallint':
    case 'tinyint':
      return 'int';
    case 'bigint':
    case 'counter':
      return 'long';
    case 'double':
    case 'float':
      return 'double';
    case 'boolean':
      return 'boolean';
    case 'text':
    case 'ascii':
      return 'text';
    default:
      return 'object';
  }
}

class Translator {
  readonly #tokens: readonly string[];
  readonly #parameters: ReadonlyMap<string, JavaType>;
  #at = 0;
  #depth = 0;

  constructor(body: string, parameters: ReadonlyMap<string, JavaType>) {
    this.#tokens = tokensOf(body);
    this.#parameters = parameters;
  }

  statements(isLong: boolean): string {
    const parts: string[] = [];
    while (this.#take('if')) {
      this.#expect('(');
      const { code } = this.#expression();
      this.#expect(')');
      parts.push(`if (${code}) ${this.#return(isLong)}`);
      this.#take('else');
    }
    parts.push(this.#return(isLong));
    if (this.#at < this.#tokens.length) throw notSimple();
    return parts.join(' ');
  }

  #return(isLong: boolean): string {
    this.#expect('return');
    const value = this.#expression();
    const code = isLong && value.type === 'int' ? `BigInt(${value.code})` : value.code;
    if (!this.#take(';') && this.#at < this.#tokens.length) throw notSimple();
    return `return ${code};`;
  }

  #expression(): Typed {
    if (++this.#depth > NESTING_MAX) throw notSimple();
    const condition = this.#binary(0);
    this.#depth--;
    if (!this.#take('?')) return condition;
    const left = this.#expression();
    this.#expect(':');
    const right = this.#expression();
    const type = left.type === right.type ? left.type : wider(left, right);
    return {
      code: `(${condition.code} ? ${as(left, type)} : ${as(right, type)})`,
      type,
    };
  }

  #binary(level: number): Typed {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = this.#tokens[this.#at];
      if (operator === undefined || !operators.includes(operator)) return left;
      this.#at++;
      left = combine(operator, left, this.#binary(level + 1));
    }
  }

  #unary(): Typed {
    if (this.#take('-')) {
      const { code, type } = this.#unary();
      return { code: type === 'int' ? `(-${code} | 0)` : `(-${code})`, type };
    }
    if (this.#take('!')) return { code: `(!${this.#unary().code})`, type: 'boolean' };
    const cast = this.#tokens.slice(this.#at, this.#at + 3);
    if (cast[0] === '(' && cast[2] === ')' && CASTS.has(cast[1] ?? '')) {
      this.#at += 3;
      const value = this.#unary();
      return castTo(CASTS.get(cast[1] as string) as JavaType, value);
    }
    return this.#postfix();
  }

  #postfix(): Typed {
    let value = this.#primary();
    while (this.#take('.')) {
      const name = this.#next();
      value = methodOf(value, name, this.#arguments());
    }
    return value;
  }

  #arguments(): readonly Typed[] {
    this.#expect('(');
    const values: Typed[] = [];
    while (!this.#take(')')) {
      if (values.length > 0) this.#expect(',');
      values.push(this.#expression());
    }
    return values;
  }

  #primary(): Typed {
    const token = this.#next();
    if (token === '(') {
      const value = this.#expression();
      this.#expect(')');
      return { ...value, code: `(${value.code})` };
    }
    if (/^\d/.test(token)) return numberOf(token);
    if (token.startsWith('"') || token.startsWith("'")) return { code: token, type: 'text' };
    if (token === 'true' || token === 'false') return { code: token, type: 'boolean' };
    if (token === 'null') return { code: 'null', type: 'object' };
    if (token === 'Math') return this.#math();
    if (token === 'new' && this.#take('String')) {
      const [value] = this.#arguments();
      if (value === undefined) throw notSimple();
      return { code: `String(${CHECK_NULL}(${value.code}))`, type: 'text' };
    }
    const type = this.#parameters.get(token);
    if (type === undefined) throw notSimple();
    return { code: token, type };
  }

  #math(): Typed {
    this.#expect('.');
    const name = this.#next();
    if (!MATH.has(name)) throw notSimple();
    const values = this.#arguments();
    const type = values.reduce<JavaType>(
      (widest, value) => wider({ code: '', type: widest }, value),
      'int',
    );
    if (type === 'long') return longMath(name, values);
    const code = `Math.${name === 'signum' ? 'sign' : name}(${values.map(({ code }) => `${CHECK_NULL}(${code})`).join(', ')})`;
    const staysInt = type === 'int' && ['abs', 'max', 'min'].includes(name);
    return { code, type: staysInt ? 'int' : 'double' };
  }

  #next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw notSimple();
    return token;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw notSimple();
  }
}

const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

const CASTS: ReadonlyMap<string, JavaType> = new Map([
  ['int', 'int'],
  ['Integer', 'int'],
  ['long', 'long'],
  ['Long', 'long'],
  ['double', 'double'],
  ['Double', 'double'],
  ['float', 'double'],
  ['String', 'text'],
]);

function tokensOf(body: string): readonly string[] {
  const tokens: string[] = [];
  const text = body.trimEnd();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const match = TOKEN.exec(text);
    if (match === null) throw notSimple();
    tokens.push(match[0].trim());
  }
  return tokens;
}

function numberOf(token: string): Typed {
  const digits = token.replace(/[lLdDfF]$/, '');
  if (/[lL]$/.test(token)) return { code: `${BigInt(digits)}n`, type: 'long' };
  const isWhole = /^\d+$/.test(token);
  return { code: String(Number(digits)), type: isWhole ? 'int' : 'double' };
}

function combine(operator: string, left: Typed, right: Typed): Typed {
  if (operator === '&&' || operator === '||')
    return { code: `(${left.code} ${operator} ${right.code})`, type: 'boolean' };
  if (operator === '==' || operator === '!=') return equality(operator, left, right);
  if (operator === '+' && (left.type === 'text' || right.type === 'text'))
    return { code: `(String(${left.code}) + String(${right.code}))`, type: 'text' };
  const type = wider(left, right);
  const [a, b] = [as(left, type), as(right, type)];
  if (['<', '<=', '>', '>='].includes(operator))
    return { code: `(${a} ${operator} ${b})`, type: 'boolean' };
  return { code: arithmetic(operator, a, b, type), type };
}

function equality(operator: string, left: Typed, right: Typed): Typed {
  const areNumbers = [left, right].every(({ type }) => ['int', 'long', 'double'].includes(type));
  const type = areNumbers ? wider(left, right) : 'object';
  const [a, b] = areNumbers ? [as(left, type), as(right, type)] : [left.code, right.code];
  return { code: `(${a} ${operator}= ${b})`, type: 'boolean' };
}

function arithmetic(operator: string, a: string, b: string, type: JavaType): string {
  if (type === 'double') return `(${a} ${operator} ${b})`;
  if (type === 'long') return `BigInt.asIntN(64, ${a} ${operator} ${b})`;
  if (operator === '*') return `Math.imul(${a}, ${b})`;
  const isDivision = operator === '/' || operator === '%';
  const divisor = `(${b} || (() => { throw new Error('java.lang.ArithmeticException: / by zero'); })())`;
  return `((${a} ${operator} ${isDivision ? divisor : b}) | 0)`;
}

function wider(left: Typed, right: Typed): JavaType {
  for (const type of ['object', 'text', 'boolean'] as const)
    if (left.type === type || right.type === type) return 'object';
  if (left.type === 'double' || right.type === 'double') return 'double';
  return left.type === 'long' || right.type === 'long' ? 'long' : 'int';
}

/** The code of a value as a number of another type. */
function as({ code, type }: Typed, wanted: JavaType): string {
  if (wanted === 'object') return code;
  const value = `${CHECK_NULL}(${code})`;
  if (type === wanted) return value;
  return wanted === 'long' ? `BigInt(${value})` : `Number(${value})`;
}

function castTo(wanted: JavaType, value: Typed): Typed {
  if (wanted === 'text' || value.type === wanted) return { ...value, type: wanted };
  const number = `Number(${CHECK_NULL}(${value.code}))`;
  if (wanted === 'int')
    return {
      code:
        value.type === 'long'
          ? `Number(BigInt.asIntN(32, ${value.code}))`
          : `Math.max(-2147483648, Math.min(2147483647, Math.trunc(${number}) || 0))`,
      type: 'int',
    };
  if (wanted === 'long')
    return {
      code: `BigInt(${value.type === 'int' ? value.code : `Math.trunc(${number})`})`,
      type: 'long',
    };
  return { code: number, type: 'double' };
}

function longMath(name: string, values: readonly Typed[]): Typed {
  const [a, b] = values.map((value) => as(value, 'long'));
  if (name === 'abs') return { code: `((x) => (x < 0n ? -x : x))(${a})`, type: 'long' };
  if ((name === 'max' || name === 'min') && b !== undefined)
    return {
      code: `((x, y) => (x ${name === 'max' ? '>' : '<'} y ? x : y))(${a}, ${b})`,
      type: 'long',
    };
  const numbers = values.map((value) => as(value, 'double'));
  return { code: `Math.${name}(${numbers.join(', ')})`, type: 'double' };
}

function methodOf(value: Typed, name: string, args: readonly Typed[]): Typed {
  const own = `${CHECK_NULL}(${value.code})`;
  const [first] = args;
  switch (name) {
    case 'toString':
      return { code: `String(${own})`, type: 'text' };
    case 'get':
      if (first === undefined) throw notSimple();
      return { code: `(${own}[${first.code}] ?? null)`, type: 'object' };
    case 'size':
      return { code: `Object.keys(${own}).length`, type: 'int' };
    case 'length':
      return { code: `${own}.length`, type: 'int' };
    case 'toUpperCase':
    case 'toLowerCase':
    case 'trim':
      return { code: `${own}.${name}()`, type: 'text' };
    case 'concat':
      if (first === undefined) throw notSimple();
      return { code: `(${own} + ${CHECK_NULL}(${first.code}))`, type: 'text' };
    case 'equals':
      if (first === undefined) throw notSimple();
      return { code: `(${own} === ${first.code})`, type: 'boolean' };
    case 'intValue':
      return castTo('int', value);
    case 'longValue':
      return castTo('long', value);
    case 'doubleValue':
      return castTo('double', value);
    default:
      throw notSimple();
  }
}

function notSimple(): CqlError {
  return new CqlError(
    'invalid',
    'Java source compilation failed: only a return of a simple expression is translated here; use LANGUAGE javascript',
  );
}
