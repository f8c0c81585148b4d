/** The syntax tree: plain readonly data. The parser makes it, rewrites make new ones, nothing changes one in place. */
import type { Span } from '../errors.ts';

export interface Query {
  readonly kind: 'query';
  readonly select: Select;
  readonly from?: Source;
  readonly where?: Expression;
  readonly groupBy?: readonly Expression[];
  readonly orderBy?: OrderBy;
  readonly window?: Window;
}

export interface Select {
  readonly isDistinct: boolean;
  /** A whole number or a parameter. */
  readonly top?: Literal | Parameter;
  /** Includes the keyword; rewrites have none. */
  readonly topSpan?: Span;
  readonly selection: Selection;
}

export type Selection =
  | { readonly kind: 'star'; readonly span: Span }
  | { readonly kind: 'value'; readonly expression: Expression }
  | { readonly kind: 'list'; readonly items: readonly SelectItem[] };

export interface SelectItem {
  readonly expression: Expression;
  readonly alias?: string;
}

export type Source =
  | {
      readonly kind: 'collection';
      readonly collection: Collection;
      readonly alias?: string;
      readonly span: Span;
    }
  | {
      readonly kind: 'iterator';
      readonly name: string;
      readonly collection: Collection;
      readonly span: Span;
    }
  | { readonly kind: 'join'; readonly left: Source; readonly right: Source };

export type Collection =
  | {
      readonly kind: 'path';
      readonly root: string;
      readonly steps: readonly PathStep[];
      readonly span: Span;
    }
  /** The span includes the parentheses; rewrites have none. */
  | { readonly kind: 'subquery'; readonly query: Query; readonly span?: Span };

/** A step written `.name` or in brackets; only the printer tells them apart. */
export type PathStep =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'text'; readonly name: string }
  | { readonly kind: 'number'; readonly index: number };

export interface OrderBy {
  readonly isRank: boolean;
  readonly items: readonly OrderByItem[];
  /** The whole clause; rewrites have none. */
  readonly span?: Span;
}

export interface OrderByItem {
  readonly expression: Expression;
  readonly direction: 'ascending' | 'descending' | 'unspecified';
}

export interface Window {
  readonly offset: Literal | Parameter;
  readonly limit: Literal | Parameter;
  /** Rewrites have none. */
  readonly span?: Span;
}

export interface Literal {
  readonly kind: 'literal';
  readonly value: undefined | null | boolean | number | string;
  /** The digits of a whole number that a double cannot hold; only the printer uses them. */
  readonly digits?: string;
  readonly span: Span;
}

export interface Parameter {
  readonly kind: 'parameter';
  /** With the @. */
  readonly name: string;
  readonly span: Span;
}

export interface Identifier {
  readonly kind: 'identifier';
  readonly name: string;
  readonly span: Span;
}

/** `base.name` */
export interface Property {
  readonly kind: 'property';
  readonly base: Expression;
  readonly name: string;
  readonly span: Span;
}

/** `base[index]` */
export interface Index {
  readonly kind: 'index';
  readonly base: Expression;
  readonly index: Expression;
  readonly span: Span;
}

export interface ArrayCreation {
  readonly kind: 'array';
  readonly items: readonly Expression[];
  readonly span: Span;
}

export interface ObjectCreation {
  readonly kind: 'object';
  readonly properties: readonly { readonly name: string; readonly value: Expression }[];
  readonly span: Span;
}

export type UnaryOperator = '-' | '+' | '~' | 'NOT';

interface Unary {
  readonly kind: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: Expression;
  readonly span: Span;
}

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '&'
  | '|'
  | '^'
  | '||'
  | '<<'
  | '>>'
  | '>>>'
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'AND'
  | 'OR'
  | '??';

export interface Binary {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly span: Span;
}

interface Conditional {
  readonly kind: 'conditional';
  readonly condition: Expression;
  readonly consequent: Expression;
  readonly alternative: Expression;
  readonly span: Span;
}

export interface Between {
  readonly kind: 'between';
  readonly isNegated: boolean;
  readonly value: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly span: Span;
}

export interface In {
  readonly kind: 'in';
  readonly isNegated: boolean;
  readonly value: Expression;
  readonly items: readonly Expression[];
  readonly span: Span;
}

export interface Like {
  readonly kind: 'like';
  readonly isNegated: boolean;
  readonly value: Expression;
  readonly pattern: Expression;
  readonly escape?: string;
  readonly span: Span;
}

/** A system function or an aggregate, by the name as written. */
export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly arguments: readonly Expression[];
  readonly nameSpan: Span;
  readonly span: Span;
}

/** `udf.name(…)` */
export interface UdfCall {
  readonly kind: 'udfCall';
  readonly name: string;
  readonly arguments: readonly Expression[];
  readonly span: Span;
}

export type SubqueryForm = 'scalar' | 'exists' | 'array' | 'all' | 'first' | 'last';

export interface Subquery {
  readonly kind: 'subquery';
  readonly form: SubqueryForm;
  readonly query: Query;
  readonly span: Span;
}

/** A `{documentdb-…}` mark of a rewritten query, which the client replaces; no text parses to it. */
export interface Placeholder {
  readonly kind: 'placeholder';
  readonly text: string;
  readonly span: Span;
}

export type Expression =
  | Literal
  | Parameter
  | Identifier
  | Property
  | Index
  | ArrayCreation
  | ObjectCreation
  | Unary
  | Binary
  | Conditional
  | Between
  | In
  | Like
  | Call
  | UdfCall
  | Subquery
  | Placeholder;

/** The operands of a left-leaning chain `a OR b OR c` of one operator, without recursion. */
export function chainOperands(expression: Expression, operator: BinaryOperator): Expression[] {
  const reversed: Expression[] = [];
  let at = expression;
  while (at.kind === 'binary' && at.operator === operator) {
    reversed.push(at.right);
    at = at.left;
  }
  reversed.push(at);
  return reversed.reverse();
}
