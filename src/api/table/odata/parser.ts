/**
 * The grammar of $filter:
 *
 *   or    := and { 'or' and }        and  := unary { 'and' unary }
 *   unary := 'not' unary | '(' or ')' | operand [ operator operand ]
 *
 * An operand alone is a boolean: a property, or a literal.
 */
import { compareValues, storedName } from '../../../value/index.ts';
import { invalidFilter } from '../errors.ts';
import { FILTER_DEPTH_MAX, FILTER_LENGTH_MAX } from '../limits.ts';
import { type Literal, type Token, tokens } from './lexer.ts';

export type Comparator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';

/** Properties by their stored names. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | {
      readonly kind: 'comparison';
      readonly property: string;
      readonly comparator: Comparator;
      readonly literal: Literal;
    }
  /** Two properties of the entity. */
  | {
      readonly kind: 'properties';
      readonly left: string;
      readonly comparator: Comparator;
      readonly right: string;
    }
  | { readonly kind: 'constant'; readonly value: boolean };

const COMPARATORS: Readonly<Record<string, Comparator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'gt',
  ge: 'ge',
  lt: 'lt',
  le: 'le',
};

/** The comparator with its operands exchanged. */
const MIRRORED: Readonly<Record<Comparator, Comparator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
};

const TRUE: Literal = { kind: 'literal', type: 'boolean', value: true };

export function parseFilter(text: string): Filter {
  if (text.length > FILTER_LENGTH_MAX) throw invalidFilter();
  const parser = new FilterParser(tokens(text));
  return parser.whole();
}

class FilterParser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(list: readonly Token[]) {
    this.#tokens = list;
  }

  whole(): Filter {
    const filter = this.#or();
    if (this.#peek().kind !== 'end') throw invalidFilter();
    return filter;
  }

  #or(): Filter {
    if (++this.#depth > FILTER_DEPTH_MAX) throw invalidFilter();
    const of = [this.#and()];
    while (this.#takeWord('or')) of.push(this.#and());
    this.#depth--;
    return of.length === 1 ? (of[0] as Filter) : { kind: 'or', of };
  }

  #and(): Filter {
    const of = [this.#unary()];
    while (this.#takeWord('and')) of.push(this.#unary());
    return of.length === 1 ? (of[0] as Filter) : { kind: 'and', of };
  }

  #unary(): Filter {
    if (this.#takeWord('not')) {
      if (++this.#depth > FILTER_DEPTH_MAX) throw invalidFilter();
      const of = this.#unary();
      this.#depth--;
      return { kind: 'not', of };
    }
    const token = this.#next();
    if (token.kind !== '(') return this.#comparison(token);
    const filter = this.#or();
    if (this.#next().kind !== ')') throw invalidFilter();
    return filter;
  }

  #comparison(left: Token): Filter {
    const comparator = this.#takeComparator();
    if (comparator === undefined) return alone(left);
    const right = this.#next();
    if (left.kind === 'name' && right.kind === 'literal')
      return { kind: 'comparison', property: storedName(left.name), comparator, literal: right };
    if (left.kind === 'literal' && right.kind === 'name')
      return {
        kind: 'comparison',
        property: storedName(right.name),
        comparator: MIRRORED[comparator],
        literal: left,
      };
    if (left.kind === 'name' && right.kind === 'name')
      return {
        kind: 'properties',
        left: storedName(left.name),
        comparator,
        right: storedName(right.name),
      };
    if (left.kind === 'literal' && right.kind === 'literal' && left.type === right.type)
      return { kind: 'constant', value: compareLiterals(left, comparator, right) };
    throw invalidFilter();
  }

  #takeComparator(): Comparator | undefined {
    const token = this.#peek();
    if (token.kind !== 'name' || !Object.hasOwn(COMPARATORS, token.name)) return undefined;
    this.#at++;
    return COMPARATORS[token.name];
  }

  #takeWord(word: string): boolean {
    const token = this.#peek();
    if (token.kind !== 'name' || token.name !== word) return false;
    this.#at++;
    return true;
  }

  #peek(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#at++;
    return token;
  }
}

function alone(token: Token): Filter {
  if (token.kind === 'name')
    return {
      kind: 'comparison',
      property: storedName(token.name),
      comparator: 'eq',
      literal: TRUE,
    };
  if (token.kind === 'literal' && token.type === 'boolean')
    return { kind: 'constant', value: token.value === true };
  throw invalidFilter();
}

function compareLiterals(left: Literal, comparator: Comparator, right: Literal): boolean {
  return holds(comparator, compareValues(left.value, right.value));
}

/** Whether a comparison with this outcome (negative, zero, positive) holds. */
export function holds(comparator: Comparator, order: number): boolean {
  switch (comparator) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'ge':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'le':
      return order <= 0;
  }
}
