/** Tokens → syntax tree by recursive descent. Throws SqlError with the span of the first unexpected token. */

import { type Diagnostic, diagnostics, NO_SPAN, type Span, SqlError } from '../errors.ts';
import {
  COUNT_MAX,
  JOINS_MAX,
  LOGICAL_ANDS_MAX,
  LOGICAL_ORS_MAX,
  NESTING_MAX,
  QUERY_TEXT_LENGTH_MAX,
  TREE_DEPTH_MAX,
  UDF_CALLS_MAX,
} from '../limits.ts';
import type {
  ArrayCreation,
  BinaryOperator,
  Collection,
  Expression,
  Literal,
  ObjectCreation,
  OrderBy,
  OrderByItem,
  Parameter,
  PathStep,
  Query,
  Select,
  SelectItem,
  Selection,
  Source,
  SubqueryForm,
  UnaryOperator,
  Window,
} from './ast.ts';
import { treeDepth } from './ast-walk.ts';
import { type Keyword, type Token, tokenize } from './lexer.ts';

/** Parses a whole query. */
export function parseQuery(text: string): Query {
  if (text.length > QUERY_TEXT_LENGTH_MAX)
    throw new SqlError(diagnostics.textTooLong(QUERY_TEXT_LENGTH_MAX));
  const parser = new Parser(tokenize(text));
  const query = parser.query();
  parser.end();
  // A tree is never deeper than its text is long.
  if (text.length > TREE_DEPTH_MAX && treeDepth(query) > TREE_DEPTH_MAX)
    throw new SqlError(diagnostics.tooDeep());
  return query;
}

/** Parses one scalar expression, such as a computed property or a filter given on its own. */
export function parseExpression(text: string): Expression {
  const parser = new Parser(tokenize(text));
  const expression = parser.expression();
  parser.end();
  return expression;
}

/** Newer keywords that the service still accepts as names of properties, aliases and functions. */
const SOFT_KEYWORDS: ReadonlySet<Keyword> = new Set<Keyword>([
  'ALL',
  'FIRST',
  'LAST',
  'LEFT',
  'RIGHT',
  'RANK',
  'OFFSET',
  'LIMIT',
]);

/** Soft keywords that cannot start an expression or be an alias without AS, because a clause may follow there. */
const CLAUSE_KEYWORDS: ReadonlySet<Keyword> = new Set<Keyword>([
  'LEFT',
  'RIGHT',
  'OFFSET',
  'LIMIT',
  'RANK',
]);

/** Binary operators below the predicates, loosest first. */
const BINARY_LEVELS: readonly ReadonlyMap<string, BinaryOperator>[] = [
  new Map([['||', '||']]),
  new Map([['|', '|']]),
  new Map([['^', '^']]),
  new Map([['&', '&']]),
  new Map([
    ['=', '='],
    ['!=', '!='],
    ['<>', '!='],
  ]),
  new Map([
    ['<', '<'],
    ['<=', '<='],
    ['>', '>'],
    ['>=', '>='],
  ]),
  new Map([
    ['<<', '<<'],
    ['>>', '>>'],
    ['>>>', '>>>'],
  ]),
  new Map([
    ['+', '+'],
    ['-', '-'],
  ]),
  new Map([
    ['*', '*'],
    ['/', '/'],
    ['%', '%'],
  ]),
];

const UNARY_OPERATORS: ReadonlyMap<string, UnaryOperator> = new Map([
  ['-', '-'],
  ['+', '+'],
  ['~', '~'],
]);

const SUBQUERY_FORMS: ReadonlyMap<Keyword, SubqueryForm> = new Map<Keyword, SubqueryForm>([
  ['EXISTS', 'exists'],
  ['ARRAY', 'array'],
  ['ALL', 'all'],
  ['FIRST', 'first'],
  ['LAST', 'last'],
]);

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #nesting = 0;
  #ands = 0;
  #ors = 0;
  #udfCalls = 0;
  #limitDiagnostic: Diagnostic | undefined;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  end(): void {
    if (this.#peek().kind !== 'end') throw this.#unexpected();
    if (this.#limitDiagnostic) throw new SqlError(this.#limitDiagnostic);
  }

  query(): Query {
    return this.#nested(() => {
      const select = this.#select();
      const from = this.#acceptKeyword('FROM') ? this.#source() : undefined;
      const where = this.#acceptKeyword('WHERE') ? this.expression() : undefined;
      const groupBy = this.#groupBy();
      const orderBy = this.#orderBy();
      const window = this.#window();
      return {
        kind: 'query',
        select,
        ...(from && { from }),
        ...(where && { where }),
        ...(groupBy && { groupBy }),
        ...(orderBy && { orderBy }),
        ...(window && { window }),
      };
    });
  }

  /** `a ? b : c` and `??` bind loosest. */
  expression(): Expression {
    return this.#nested(() => {
      const start = this.#start();
      const condition = this.#coalesce();
      if (!this.#acceptSymbol('?')) return condition;
      const consequent = this.expression();
      this.#expectSymbol(':');
      const alternative = this.expression();
      return { kind: 'conditional', condition, consequent, alternative, span: this.#since(start) };
    });
  }

  #select(): Select {
    this.#expectKeyword('SELECT');
    const isDistinct = this.#acceptKeyword('DISTINCT');
    const start = this.#start();
    const top = this.#acceptKeyword('TOP') ? this.#count(diagnostics.top) : undefined;
    const counted = top && { top, topSpan: this.#since(start) };
    return { isDistinct, ...counted, selection: this.#selection() };
  }

  #selection(): Selection {
    const token = this.#peek();
    if (this.#acceptSymbol('*')) return { kind: 'star', span: token.span };
    if (this.#acceptKeyword('VALUE')) return { kind: 'value', expression: this.expression() };
    const items: SelectItem[] = [];
    do {
      const expression = this.expression();
      const alias = this.#alias();
      items.push({ expression, ...(alias !== undefined && { alias }) });
    } while (this.#acceptSymbol(','));
    return { kind: 'list', items };
  }

  #alias(): string | undefined {
    if (this.#acceptKeyword('AS')) return this.#name();
    const token = this.#peek();
    if (token.kind !== 'word') return undefined;
    if (token.keyword && (!SOFT_KEYWORDS.has(token.keyword) || CLAUSE_KEYWORDS.has(token.keyword)))
      return undefined;
    return this.#name();
  }

  #source(): Source {
    let left = this.#singleSource();
    let joins = 0;
    while (this.#acceptKeyword('JOIN')) {
      this.#limit(++joins, JOINS_MAX, diagnostics.tooManyJoins);
      left = { kind: 'join', left, right: this.#singleSource() };
    }
    return left;
  }

  #singleSource(): Source {
    const start = this.#start();
    const token = this.#peek();
    const next = this.#peek(1);
    if (token.kind === 'word' && next.kind === 'word' && next.keyword === 'IN') {
      const name = this.#name();
      this.#expectKeyword('IN');
      const collection = this.#collection();
      return { kind: 'iterator', name, collection, span: this.#since(start) };
    }
    const collection = this.#collection();
    const alias = this.#alias();
    return {
      kind: 'collection',
      collection,
      ...(alias !== undefined && { alias }),
      span: this.#since(start),
    };
  }

  #collection(): Collection {
    const start = this.#start();
    if (this.#acceptSymbol('(')) {
      const query = this.query();
      this.#expectSymbol(')');
      return { kind: 'subquery', query, span: this.#since(start) };
    }
    const root = this.#name();
    const steps: PathStep[] = [];
    for (;;) {
      if (this.#acceptSymbol('.')) steps.push({ kind: 'name', name: this.#name() });
      else if (this.#acceptSymbol('[')) steps.push(this.#bracketStep());
      else return { kind: 'path', root, steps, span: this.#since(start) };
    }
  }

  #bracketStep(): PathStep {
    const token = this.#peek();
    if (token.kind !== 'number' && token.kind !== 'string') throw this.#unexpected();
    this.#at++;
    this.#expectSymbol(']');
    return token.kind === 'string'
      ? { kind: 'text', name: token.value }
      : { kind: 'number', index: Number(token.text) };
  }

  #groupBy(): readonly Expression[] | undefined {
    if (!this.#acceptKeyword('GROUP')) return undefined;
    this.#expectKeyword('BY');
    return this.#expressions();
  }

  #orderBy(): OrderBy | undefined {
    const start = this.#start();
    if (!this.#acceptKeyword('ORDER')) return undefined;
    this.#expectKeyword('BY');
    const isRank = this.#isRank();
    if (isRank) this.#expectKeyword('RANK');
    const items: OrderByItem[] = [];
    do {
      const expression = isRank ? this.#rankFunction() : this.expression();
      const direction = this.#acceptKeyword('ASC')
        ? 'ascending'
        : this.#acceptKeyword('DESC')
          ? 'descending'
          : 'unspecified';
      items.push({ expression, direction });
    } while (this.#acceptSymbol(','));
    return { isRank, items, span: this.#since(start) };
  }

  /** `RANK` is a name, too: it starts a rank clause only where a function name follows. */
  #isRank(): boolean {
    const token = this.#peek();
    const next = this.#peek(1);
    return token.kind === 'word' && token.keyword === 'RANK' && next.kind !== 'symbol';
  }

  #rankFunction(): Expression {
    const token = this.#peek();
    const expression = this.#postfix();
    if (expression.kind !== 'call' && expression.kind !== 'udfCall')
      throw new SqlError(diagnostics.syntax(token.text, token.span));
    return expression;
  }

  #window(): Window | undefined {
    const start = this.#start();
    if (!this.#acceptKeyword('OFFSET')) return undefined;
    const offset = this.#count(diagnostics.offset);
    this.#expectKeyword('LIMIT');
    const limit = this.#count(diagnostics.limit);
    return { offset, limit, span: this.#since(start) };
  }

  /** The number of TOP, OFFSET or LIMIT: plain digits or a parameter, never a sign. */
  #count(tooLarge: (span: Span) => Diagnostic): Literal | Parameter {
    const token = this.#peek();
    if (token.kind === 'parameter') {
      this.#at++;
      return { kind: 'parameter', name: token.text, span: token.span };
    }
    if (token.kind !== 'number') throw this.#unexpected();
    this.#at++;
    const literal = numberLiteral(token.text, token.span);
    const value = literal.value as number;
    if (!Number.isInteger(value) || value > COUNT_MAX) throw new SqlError(tooLarge(token.span));
    return literal;
  }

  #coalesce(): Expression {
    const start = this.#start();
    let left = this.#or();
    while (this.#acceptSymbol('??')) {
      const right = this.#or();
      left = { kind: 'binary', operator: '??', left, right, span: this.#since(start) };
    }
    return left;
  }

  #or(): Expression {
    const start = this.#start();
    let left = this.#and();
    while (this.#acceptKeyword('OR')) {
      this.#limit(++this.#ors, LOGICAL_ORS_MAX, diagnostics.tooManyOrs);
      const right = this.#and();
      left = { kind: 'binary', operator: 'OR', left, right, span: this.#since(start) };
    }
    return left;
  }

  #and(): Expression {
    const start = this.#start();
    let left = this.#predicate();
    while (this.#acceptKeyword('AND')) {
      this.#limit(++this.#ands, LOGICAL_ANDS_MAX, diagnostics.tooManyAnds);
      const right = this.#predicate();
      left = { kind: 'binary', operator: 'AND', left, right, span: this.#since(start) };
    }
    return left;
  }

  /** [NOT] BETWEEN, IN and LIKE: at most one on an operand. */
  #predicate(): Expression {
    const start = this.#start();
    const value = this.#binary(0);
    const isNegated = this.#isKeyword('NOT');
    const keyword = this.#keywordAt(isNegated ? 1 : 0);
    if (keyword !== 'BETWEEN' && keyword !== 'IN' && keyword !== 'LIKE') return value;
    this.#at += isNegated ? 2 : 1;
    if (keyword === 'BETWEEN') {
      const low = this.#binary(0);
      this.#expectKeyword('AND');
      const high = this.#binary(0);
      return { kind: 'between', isNegated, value, low, high, span: this.#since(start) };
    }
    if (keyword === 'IN') {
      this.#expectSymbol('(');
      const items = this.#expressions();
      this.#expectSymbol(')');
      return { kind: 'in', isNegated, value, items, span: this.#since(start) };
    }
    const pattern = this.#binary(0);
    const escapeCharacter = this.#acceptKeyword('ESCAPE') ? this.#string() : undefined;
    return {
      kind: 'like',
      isNegated,
      value,
      pattern,
      ...(escapeCharacter !== undefined && { escape: escapeCharacter }),
      span: this.#since(start),
    };
  }

  #binary(level: number): Expression {
    const operators = BINARY_LEVELS[level];
    if (!operators) return this.#unary();
    const start = this.#start();
    let left = this.#binary(level + 1);
    for (;;) {
      const token = this.#peek();
      const operator = token.kind === 'symbol' ? operators.get(token.text) : undefined;
      if (!operator) return left;
      this.#at++;
      const right = this.#binary(level + 1);
      left = { kind: 'binary', operator, left, right, span: this.#since(start) };
    }
  }

  #unary(): Expression {
    const token = this.#peek();
    const operator =
      token.kind === 'symbol'
        ? UNARY_OPERATORS.get(token.text)
        : token.kind === 'word' && token.keyword === 'NOT'
          ? 'NOT'
          : undefined;
    if (!operator) return this.#postfix();
    this.#at++;
    const next = this.#peek();
    // A sign written next to its digits belongs to the number.
    if (next.kind === 'number' && token.span.end === next.span.start && token.kind === 'symbol') {
      if (operator === '-' || operator === '+') {
        this.#at++;
        const sign = operator === '-' ? '-' : '';
        return this.#steps(
          numberLiteral(sign + next.text, { start: token.span.start, end: next.span.end }),
          token.span.start,
        );
      }
    }
    return this.#nested(() => {
      const operand = this.#unary();
      return { kind: 'unary', operator, operand, span: this.#since(token.span.start) };
    });
  }

  #postfix(): Expression {
    const start = this.#start();
    return this.#steps(this.#primary(), start);
  }

  #steps(base: Expression, start: number): Expression {
    let at = base;
    for (;;) {
      if (this.#acceptSymbol('.')) {
        const name = this.#name();
        at = { kind: 'property', base: at, name, span: this.#since(start) };
      } else if (this.#acceptSymbol('[')) {
        const index = this.expression();
        this.#expectSymbol(']');
        at = { kind: 'index', base: at, index, span: this.#since(start) };
      } else return at;
    }
  }

  #primary(): Expression {
    const token = this.#peek();
    switch (token.kind) {
      case 'number':
        this.#at++;
        return numberLiteral(token.text, token.span);
      case 'string':
        this.#at++;
        return { kind: 'literal', value: token.value, span: token.span };
      case 'parameter':
        this.#at++;
        return { kind: 'parameter', name: token.text, span: token.span };
      case 'symbol':
        if (token.text === '(') return this.#parenthesised();
        if (token.text === '[') return this.#array();
        if (token.text === '{') return this.#object();
        throw this.#unexpected();
      case 'word':
        return this.#word(token.text, token.keyword, token.span);
      case 'end':
        throw this.#unexpected();
    }
  }

  #parenthesised(): Expression {
    const start = this.#start();
    this.#expectSymbol('(');
    if (!this.#isKeyword('SELECT')) {
      const expression = this.expression();
      this.#expectSymbol(')');
      return expression;
    }
    const query = this.query();
    this.#expectSymbol(')');
    return { kind: 'subquery', form: 'scalar', query, span: this.#since(start) };
  }

  #array(): ArrayCreation {
    const start = this.#start();
    this.#expectSymbol('[');
    const items = this.#isSymbol(']') ? [] : this.#expressions();
    this.#expectSymbol(']');
    return { kind: 'array', items, span: this.#since(start) };
  }

  #object(): ObjectCreation {
    const start = this.#start();
    this.#expectSymbol('{');
    const properties: { name: string; value: Expression }[] = [];
    if (!this.#isSymbol('}'))
      do {
        const name = this.#peek().kind === 'string' ? this.#string() : this.#name();
        this.#expectSymbol(':');
        properties.push({ name, value: this.expression() });
      } while (this.#acceptSymbol(','));
    this.#expectSymbol('}');
    return { kind: 'object', properties, span: this.#since(start) };
  }

  #word(text: string, keyword: Keyword | undefined, span: Span): Expression {
    const constant = keyword === undefined ? undefined : CONSTANTS.get(keyword);
    if (constant) {
      this.#at++;
      return { kind: 'literal', value: constant.value, span };
    }
    if (keyword === 'udf') return this.#udfCall();
    const form = keyword && SUBQUERY_FORMS.get(keyword);
    if (form && this.#isSymbol('(', 1) && this.#keywordAt(2) === 'SELECT') {
      this.#at += 2;
      const query = this.query();
      this.#expectSymbol(')');
      return { kind: 'subquery', form, query, span: this.#since(span.start) };
    }
    const isCall = this.#isSymbol('(', 1);
    if (keyword && !SOFT_KEYWORDS.has(keyword)) throw this.#unexpected();
    if (keyword && CLAUSE_KEYWORDS.has(keyword) && !isCall && !this.#isSymbol('.', 1))
      throw this.#unexpected();
    this.#at++;
    if (!isCall) return { kind: 'identifier', name: text, span };
    const args = this.#arguments();
    return {
      kind: 'call',
      name: text,
      arguments: args,
      nameSpan: span,
      span: this.#since(span.start),
    };
  }

  #udfCall(): Expression {
    const start = this.#start();
    this.#at++;
    this.#expectSymbol('.');
    const name = this.#name();
    this.#limit(++this.#udfCalls, UDF_CALLS_MAX, diagnostics.tooManyUdfs);
    const args = this.#arguments();
    return { kind: 'udfCall', name, arguments: args, span: this.#since(start) };
  }

  #arguments(): readonly Expression[] {
    this.#expectSymbol('(');
    const args = this.#isSymbol(')') ? [] : this.#expressions();
    this.#expectSymbol(')');
    return args;
  }

  #expressions(): readonly Expression[] {
    const items: Expression[] = [];
    do items.push(this.expression());
    while (this.#acceptSymbol(','));
    return items;
  }

  #string(): string {
    const token = this.#peek();
    if (token.kind !== 'string') throw this.#unexpected();
    this.#at++;
    return token.value;
  }

  #name(): string {
    const token = this.#peek();
    if (token.kind !== 'word' || (token.keyword && !SOFT_KEYWORDS.has(token.keyword)))
      throw this.#unexpected();
    this.#at++;
    return token.text;
  }

  #peek(ahead = 0): Token {
    return (this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1)) as Token;
  }

  #keywordAt(ahead: number): Keyword | undefined {
    const token = this.#peek(ahead);
    return token.kind === 'word' ? token.keyword : undefined;
  }

  #isKeyword(keyword: Keyword): boolean {
    return this.#keywordAt(0) === keyword;
  }

  #isSymbol(symbol: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token.kind === 'symbol' && token.text === symbol;
  }

  #acceptKeyword(keyword: Keyword): boolean {
    if (!this.#isKeyword(keyword)) return false;
    this.#at++;
    return true;
  }

  #acceptSymbol(symbol: string): boolean {
    if (!this.#isSymbol(symbol)) return false;
    this.#at++;
    return true;
  }

  #expectKeyword(keyword: Keyword): void {
    if (!this.#acceptKeyword(keyword)) throw this.#unexpected();
  }

  #expectSymbol(symbol: string): void {
    if (!this.#acceptSymbol(symbol)) throw this.#unexpected();
  }

  #start(): number {
    return this.#peek().span.start;
  }

  #since(start: number): Span {
    const last = this.#tokens[this.#at - 1];
    return last ? { start, end: last.span.end } : NO_SPAN;
  }

  #unexpected(): SqlError {
    const token = this.#peek();
    if (token.kind === 'end') return new SqlError(diagnostics.endOfText(token.span.start));
    return new SqlError(diagnostics.syntax(token.text, token.span));
  }

  #nested<T>(parse: () => T): T {
    if (++this.#nesting > NESTING_MAX) throw new SqlError(diagnostics.tooDeep());
    const result = parse();
    this.#nesting--;
    return result;
  }

  /** A syntax error has precedence over a limit, so the diagnostic is thrown at the end of the text. */
  #limit(count: number, max: number, diagnosticOf: (max: number) => Diagnostic): void {
    if (count > max) this.#limitDiagnostic ??= diagnosticOf(max);
  }
}

const CONSTANTS: ReadonlyMap<Keyword, { readonly value: undefined | null | boolean }> = new Map<
  Keyword,
  { readonly value: undefined | null | boolean }
>([
  ['true', { value: true }],
  ['false', { value: false }],
  ['null', { value: null }],
  ['undefined', { value: undefined }],
]);

/** A whole number of 64 bits keeps its digits where a double would change them. */
export function numberLiteral(text: string, span: Span = NO_SPAN): Literal {
  const isNegativeHex = /^-0[xX]/.test(text);
  const value = isNegativeHex ? -Number(text.slice(1)) : Number(text);
  if (/^-?[0-9]+$/.test(text) && !Number.isSafeInteger(value)) {
    const exact = BigInt(text);
    if (exact >= INT64_MIN && exact <= INT64_MAX)
      return { kind: 'literal', value, digits: exact.toString(), span };
  }
  return { kind: 'literal', value, span };
}
