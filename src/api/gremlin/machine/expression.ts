/** Expressions of math(): numbers, variables, + - * / % ^, and functions of one number. */
import { compileError } from '../errors.ts';

interface Expression {
  /** Names in the order of their first use. */
  readonly variables: readonly string[];
  calculate(values: readonly number[]): number;
}

type Node = (values: readonly number[]) => number;

const FUNCTIONS: Readonly<Record<string, (x: number) => number>> = {
  abs: Math.abs,
  acos: Math.acos,
  asin: Math.asin,
  atan: Math.atan,
  cbrt: Math.cbrt,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  exp: Math.exp,
  expm1: Math.expm1,
  floor: Math.floor,
  log: Math.log,
  log10: Math.log10,
  log1p: Math.log1p,
  log2: Math.log2,
  signum: Math.sign,
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
};

const CONSTANTS: Readonly<Record<string, number>> = {
  pi: Math.PI,
  π: Math.PI,
  e: Math.E,
  φ: 1.61803398874,
};

const TOKEN =
  /\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)|([\p{L}_][\p{L}\d_]*)|([-+*/%^()]))\s*/uy;

/** Nesting of parentheses, functions and signs. Deeper texts would overflow the stack. */
const NESTING_MAX = 100;

export function compileExpression(text: string): Expression {
  return new ExpressionParser(text).parse();
}

class ExpressionParser {
  readonly #tokens: string[] = [];
  readonly #variables: string[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const from = TOKEN.lastIndex;
      const found = TOKEN.exec(text);
      if (found === null)
        throw compileError(`math() cannot read '${text.slice(from, from + 20)}'.`);
      this.#tokens.push(found[1] ?? found[2] ?? (found[3] as string));
    }
  }

  parse(): Expression {
    const root = this.#sum();
    if (this.#at < this.#tokens.length) throw this.#unexpected();
    return { variables: this.#variables, calculate: root };
  }

  #sum(): Node {
    let left = this.#product();
    for (;;) {
      const sign = this.#take('+', '-');
      if (sign === undefined) return left;
      const [a, b] = [left, this.#product()];
      left = sign === '+' ? (values) => a(values) + b(values) : (values) => a(values) - b(values);
    }
  }

  #product(): Node {
    let left = this.#signed();
    for (;;) {
      const sign = this.#take('*', '/', '%');
      if (sign === undefined) return left;
      const [a, b] = [left, this.#signed()];
      if (sign === '*') left = (values) => a(values) * b(values);
      else if (sign === '/') left = (values) => a(values) / b(values);
      else left = (values) => a(values) % b(values);
    }
  }

  #signed(): Node {
    const sign = this.#take('-', '+');
    if (sign === undefined) return this.#power();
    this.#enter();
    const inner = this.#signed();
    this.#depth--;
    return sign === '-' ? (values) => -inner(values) : inner;
  }

  #power(): Node {
    const base = this.#primary();
    if (this.#take('^') === undefined) return base;
    this.#enter();
    const exponent = this.#signed();
    this.#depth--;
    return (values) => base(values) ** exponent(values);
  }

  #primary(): Node {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw compileError('math() needs an expression.');
    if (token === '(') return this.#inParentheses();
    if (/^[\d.]/.test(token)) {
      const number = Number(token);
      return () => number;
    }
    if (!/^[\p{L}_]/u.test(token)) throw this.#unexpected();
    const apply = Object.hasOwn(FUNCTIONS, token) ? FUNCTIONS[token] : undefined;
    if (apply !== undefined) {
      const argument = this.#take('(') === undefined ? this.#primary() : this.#inParentheses();
      return (values) => apply(argument(values));
    }
    const constant = CONSTANTS[token];
    if (constant !== undefined) return () => constant;
    return this.#variable(token);
  }

  #inParentheses(): Node {
    this.#enter();
    const inner = this.#sum();
    if (this.#take(')') === undefined) throw this.#unexpected();
    this.#depth--;
    return inner;
  }

  #variable(name: string): Node {
    if (!this.#variables.includes(name)) this.#variables.push(name);
    const at = this.#variables.indexOf(name);
    return (values) => values[at] as number;
  }

  #take(...signs: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !signs.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  #enter(): void {
    if (++this.#depth > NESTING_MAX)
      throw compileError('The expression of math() is nested too deeply.');
  }

  #unexpected(): Error {
    return compileError(`math() cannot read '${this.#tokens[this.#at] ?? 'the end'}'.`);
  }
}
