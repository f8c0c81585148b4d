/** Statements of CQL as the parser leaves them: names as written, terms without types. */
import type { DescribeStatement } from '../describe/describe-ast.ts';
import type { FunctionStatement } from '../functions/function-ast.ts';
import type { RoleStatement } from '../roles/role-ast.ts';
import type { ViewStatement } from '../views/view-ast.ts';

export interface TableName {
  readonly keyspace: string | undefined;
  readonly name: string;
}

export type ConstantKind =
  | 'string'
  | 'integer'
  | 'float'
  | 'boolean'
  | 'uuid'
  | 'blob'
  | 'duration';

export type Operator = '+' | '-' | '*' | '/' | '%';

/** An expression: a value, or in a selection something that is computed from a row. */
export type Term =
  | { readonly kind: 'constant'; readonly constant: ConstantKind; readonly text: string }
  | { readonly kind: 'null' }
  | BindMarker
  /** One element in parentheses may be a tuple, or the element itself: its place says. */
  | { readonly kind: 'tuple'; readonly elements: readonly Term[] }
  | { readonly kind: 'list'; readonly elements: readonly Term[] }
  /** Braces: a set, or with nothing inside a map as well. */
  | { readonly kind: 'set'; readonly elements: readonly Term[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Term, Term])[] }
  | { readonly kind: 'user'; readonly fields: readonly (readonly [string, Term])[] }
  | CallTerm
  /** `(int) 1`: says what type a term has. */
  | { readonly kind: 'hint'; readonly type: string; readonly term: Term }
  /** The following are of selections alone. */
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'field'; readonly of: Term; readonly field: string }
  | { readonly kind: 'element'; readonly of: Term; readonly element: Term }
  | {
      readonly kind: 'slice';
      readonly of: Term;
      readonly from: Term | undefined;
      readonly to: Term | undefined;
    }
  | { readonly kind: 'castAs'; readonly term: Term; readonly type: string }
  | { readonly kind: 'countAll' }
  | {
      readonly kind: 'operation';
      readonly operator: Operator;
      readonly left: Term;
      readonly right: Term;
    }
  | { readonly kind: 'negation'; readonly term: Term };

export interface CallTerm {
  readonly kind: 'call';
  readonly keyspace: string | undefined;
  readonly name: string;
  readonly arguments: readonly Term[];
}

export interface BindMarker {
  readonly kind: 'bind';
  /** Position among all markers of the statement. */
  readonly index: number;
  readonly name: string | undefined;
}

export type Comparison = '=' | '<' | '<=' | '>' | '>=' | '!=';

export type Relation =
  | {
      readonly kind: 'column';
      readonly column: string;
      readonly operator: Comparison | 'CONTAINS' | 'CONTAINS KEY' | 'LIKE';
      readonly term: Term;
    }
  | { readonly kind: 'in'; readonly column: string; readonly terms: Term | readonly Term[] }
  | { readonly kind: 'notNull'; readonly column: string }
  | {
      readonly kind: 'element';
      readonly column: string;
      readonly element: Term;
      readonly operator: Comparison;
      readonly term: Term;
    }
  | {
      readonly kind: 'columns';
      readonly columns: readonly string[];
      readonly operator: Comparison;
      readonly term: Term;
    }
  | {
      readonly kind: 'columnsIn';
      readonly columns: readonly string[];
      readonly terms: Term | readonly Term[];
    }
  | {
      readonly kind: 'token';
      readonly columns: readonly string[];
      readonly operator: Comparison;
      readonly term: Term;
    };

export interface Selector {
  readonly term: Term;
  readonly alias: string | undefined;
}

export interface SelectStatement {
  readonly kind: 'select';
  readonly isJson: boolean;
  readonly isDistinct: boolean;
  readonly selectors: 'all' | readonly Selector[];
  readonly table: TableName;
  readonly where: readonly Relation[];
  readonly groupBy: readonly string[];
  readonly orderBy: readonly { readonly column: string; readonly isDescending: boolean }[];
  readonly limit: Term | undefined;
  readonly perPartitionLimit: Term | undefined;
  readonly allowsFiltering: boolean;
}

export interface Using {
  readonly timestamp: Term | undefined;
  readonly ttl: Term | undefined;
}

/** A condition of a lightweight transaction: on a column, an element of a collection or a field of a type. */
interface ConditionTarget {
  readonly column: string;
  readonly element: Term | undefined;
  readonly field: string | undefined;
}

export type Condition =
  | (ConditionTarget & {
      readonly kind: 'column';
      readonly operator: Comparison | 'CONTAINS' | 'CONTAINS KEY';
      readonly term: Term;
    })
  | (ConditionTarget & { readonly kind: 'in'; readonly terms: Term | readonly Term[] });

export type Conditions = 'exists' | 'notExists' | readonly Condition[] | undefined;

export interface InsertStatement {
  readonly kind: 'insert';
  readonly table: TableName;
  readonly source:
    | {
        readonly kind: 'values';
        readonly columns: readonly string[];
        readonly terms: readonly Term[];
      }
    | { readonly kind: 'json'; readonly term: Term; readonly keepsUnset: boolean };
  readonly conditions: Conditions;
  readonly using: Using;
}

export type Assignment =
  | { readonly kind: 'set'; readonly column: string; readonly term: Term }
  /** column = column + term, or - term; `isPrepended` for column = term + column. */
  | {
      readonly kind: 'add' | 'subtract';
      readonly column: string;
      readonly term: Term;
      readonly isPrepended: boolean;
    }
  | {
      readonly kind: 'element';
      readonly column: string;
      readonly element: Term;
      readonly term: Term;
    }
  | {
      readonly kind: 'field';
      readonly column: string;
      readonly field: string;
      readonly term: Term;
    };

export interface UpdateStatement {
  readonly kind: 'update';
  readonly table: TableName;
  readonly using: Using;
  readonly assignments: readonly Assignment[];
  readonly where: readonly Relation[];
  readonly conditions: Conditions;
}

export interface DeleteTarget {
  readonly column: string;
  readonly element: Term | undefined;
  readonly field: string | undefined;
}

export interface DeleteStatement {
  readonly kind: 'delete';
  readonly table: TableName;
  readonly targets: readonly DeleteTarget[];
  readonly using: Using;
  readonly where: readonly Relation[];
  readonly conditions: Conditions;
}

export type ModificationStatement = InsertStatement | UpdateStatement | DeleteStatement;

export interface BatchStatement {
  readonly kind: 'batch';
  readonly type: 'logged' | 'unlogged' | 'counter';
  readonly using: Using;
  readonly statements: readonly ModificationStatement[];
}

/** The value of an option: a text, or a map of texts. */
export type OptionValue = string | ReadonlyMap<string, string>;

export type Options = ReadonlyMap<string, OptionValue>;

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly isStatic: boolean;
}

export type SchemaStatement =
  | {
      readonly kind: 'createKeyspace';
      readonly name: string;
      readonly ifNotExists: boolean;
      readonly options: Options;
    }
  | {
      readonly kind: 'alterKeyspace';
      readonly name: string;
      readonly ifExists: boolean;
      readonly options: Options;
    }
  | { readonly kind: 'dropKeyspace'; readonly name: string; readonly ifExists: boolean }
  | {
      readonly kind: 'createTable';
      readonly table: TableName;
      readonly ifNotExists: boolean;
      readonly columns: readonly ColumnDefinition[];
      readonly partitionKey: readonly string[];
      readonly clustering: readonly string[];
      readonly clusteringOrder: ReadonlyMap<string, 'asc' | 'desc'>;
      readonly isCompact: boolean;
      readonly options: Options;
    }
  | {
      readonly kind: 'alterTable';
      readonly table: TableName;
      readonly ifExists: boolean;
      readonly change: TableChange;
    }
  | { readonly kind: 'dropTable'; readonly table: TableName; readonly ifExists: boolean }
  | { readonly kind: 'truncate'; readonly table: TableName };

export type TableChange =
  | {
      readonly kind: 'add';
      readonly columns: readonly ColumnDefinition[];
      readonly ifNotExists: boolean;
    }
  | {
      readonly kind: 'drop';
      readonly columns: readonly string[];
      readonly ifExists: boolean;
      readonly timestamp: bigint | undefined;
    }
  | { readonly kind: 'alterColumn'; readonly column: string }
  | { readonly kind: 'dropCompact' }
  | { readonly kind: 'rename'; readonly names: readonly (readonly [string, string])[] }
  | { readonly kind: 'with'; readonly options: Options };

/** What of a column an index has: all of it, or of a collection its keys, values or entries. */
export type IndexedPart = 'simple' | 'values' | 'keys' | 'entries' | 'full';

export interface IndexTarget {
  readonly column: string;
  readonly part: IndexedPart;
}

export type IndexStatement =
  | {
      readonly kind: 'createIndex';
      readonly ifNotExists: boolean;
      readonly name: string | undefined;
      readonly table: TableName;
      readonly targets: readonly IndexTarget[];
      /** The class of a custom index. */
      readonly customClass: string | undefined;
      readonly isCustom: boolean;
      readonly options: Options;
    }
  | { readonly kind: 'dropIndex'; readonly ifExists: boolean; readonly index: TableName };

export type TypeStatement =
  | {
      readonly kind: 'createType';
      readonly ifNotExists: boolean;
      readonly type: TableName;
      readonly fields: readonly (readonly [string, string])[];
    }
  | {
      readonly kind: 'alterType';
      readonly type: TableName;
      readonly change:
        | { readonly kind: 'add'; readonly name: string; readonly type: string }
        | { readonly kind: 'rename'; readonly names: readonly (readonly [string, string])[] }
        | { readonly kind: 'alter'; readonly name: string };
    }
  | { readonly kind: 'dropType'; readonly ifExists: boolean; readonly type: TableName };

/** Statements of the language that this server knows but does not have yet. */
interface UnsupportedStatement {
  readonly kind: 'unsupported';
  readonly what: string;
}

export type Statement =
  | SelectStatement
  | ModificationStatement
  | BatchStatement
  | SchemaStatement
  | RoleStatement
  | FunctionStatement
  | ViewStatement
  | DescribeStatement
  | IndexStatement
  | TypeStatement
  | { readonly kind: 'use'; readonly keyspace: string }
  | UnsupportedStatement;

/** A statement with its bind markers in order. */
export interface ParsedStatement {
  readonly statement: Statement;
  readonly markers: readonly BindMarker[];
}
