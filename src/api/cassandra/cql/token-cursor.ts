/** A place in the tokens of a statement, with what all parts of the parser share. */
import { type CqlError, syntaxError } from '../errors.ts';
import { NESTING_MAX } from '../limits.ts';
import type { BindMarker, TableName } from './ast.ts';
import { position, type Token, tokenize } from './lexer.ts';

const RESERVED: ReadonlySet<string> = new Set(
  (
    'add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop entries ' +
    'execute from full grant if in index infinity insert into is keyspace limit materialized modify nan norecursive ' +
    'not null of on or order primary rename replace revoke schema select set table to token truncate unlogged ' +
    'update use using view where with'
  ).split(' '),
);

/** Whether a name has to be quoted because it is a word of the language. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

export class TokenCursor {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly markers: BindMarker[] = [];
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  get token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] as Token;
  }

  next(): Token {
    const token = this.token;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  isWord(word: string, ahead = 0): boolean {
    const { kind, text } = this.peek(ahead);
    return kind === 'word' && text === word;
  }

  isSymbol(symbol: string, ahead = 0): boolean {
    const { kind, text } = this.peek(ahead);
    return kind === 'symbol' && text === symbol;
  }

  /** Steps over these words if all follow. */
  takeWords(...words: readonly string[]): boolean {
    if (!words.every((word, ahead) => this.isWord(word, ahead))) return false;
    this.#at += words.length;
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  expectWords(...words: readonly string[]): void {
    for (const word of words)
      if (!this.takeWords(word)) throw this.mismatch(`K_${word.toUpperCase()}`);
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.mismatch(`'${symbol}'`);
  }

  /** A name of a column, table or keyspace. */
  name(): string {
    const { kind, text } = this.token;
    if (kind !== 'quoted' && (kind !== 'word' || RESERVED.has(text))) throw this.unexpected();
    this.#at++;
    return text;
  }

  tableName(): TableName {
    const first = this.name();
    if (!this.takeSymbol('.')) return { keyspace: undefined, name: first };
    return { keyspace: first, name: this.name() };
  }

  /** One or more, with commas between. */
  list<T>(element: () => T): readonly T[] {
    const elements = [element()];
    while (this.takeSymbol(',')) elements.push(element());
    return elements;
  }

  parenthesized<T>(element: () => T): readonly T[] {
    this.expectSymbol('(');
    const elements = this.isSymbol(')') ? [] : this.list(element);
    this.expectSymbol(')');
    return elements;
  }

  /** As `parenthesized`, but at least one, and commas may have nothing behind them. */
  definitions(element: () => void): void {
    this.expectSymbol('(');
    element();
    while (this.takeSymbol(',')) if (!this.isSymbol(',') && !this.isSymbol(')')) element();
    this.expectSymbol(')');
  }

  marker(): BindMarker {
    const name = this.takeSymbol('?') ? undefined : this.#markerName();
    const marker: BindMarker = { kind: 'bind', index: this.markers.length, name };
    this.markers.push(marker);
    return marker;
  }

  #markerName(): string {
    this.expectSymbol(':');
    return this.name();
  }

  /** The text of a type, which is parsed where the types of clients are known. */
  typeText(): string {
    const { from } = this.token;
    let depth = 0;
    do {
      const { kind, text } = this.token;
      if (kind === 'end' || (kind === 'symbol' && !['<', '>', ',', '.'].includes(text)))
        throw this.unexpected();
      if (text === '<') depth++;
      if (text === '>') depth--;
      this.#at++;
    } while (
      depth > 0 ||
      this.isSymbol('<') ||
      this.isSymbol('.') ||
      this.#tokens[this.#at - 1]?.text === '.'
    );
    return this.#text.slice(from, this.#tokens[this.#at - 1]?.end);
  }

  /** The text from a place to the end of the last token. */
  textFrom(from: number): string {
    return this.#text.slice(from, this.#tokens[this.#at - 1]?.end);
  }

  /** Guards recursion. */
  nested<T>(parse: () => T): T {
    if (++this.#depth > NESTING_MAX) throw syntaxError('The statement is nested too deeply');
    const result = parse();
    this.#depth--;
    return result;
  }

  mismatch(expected: string): CqlError {
    const { from } = this.token;
    return syntaxError(
      `${position(this.#text, from)} mismatched input '${this.#found()}' expecting ${expected}`,
    );
  }

  unexpected(): CqlError {
    const { from } = this.token;
    return syntaxError(
      `${position(this.#text, from)} no viable alternative at input '${this.#found()}'`,
    );
  }

  #found(): string {
    const { kind, text, from, end } = this.token;
    return kind === 'end' ? text : this.#text.slice(from, Math.min(end, from + 50));
  }
}
