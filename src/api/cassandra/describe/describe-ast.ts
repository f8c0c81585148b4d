/** DESCRIBE in its forms. */
import type { TableName } from '../cql/ast.ts';

type ListKind = 'keyspaces' | 'tables' | 'types' | 'functions' | 'aggregates';
type ElementKind = 'table' | 'type' | 'function' | 'aggregate' | 'index' | 'view';

export type DescribeTarget =
  | { readonly kind: 'cluster' }
  | { readonly kind: 'schema'; readonly isFull: boolean }
  | { readonly kind: 'list'; readonly of: ListKind }
  | { readonly kind: 'keyspace'; readonly name: string | undefined; readonly isOnly: boolean }
  | { readonly kind: 'element'; readonly element: ElementKind; readonly name: TableName }
  /** Whatever has this name. */
  | { readonly kind: 'named'; readonly name: TableName };

export interface DescribeStatement {
  readonly kind: 'describe';
  readonly target: DescribeTarget;
  readonly hasInternals: boolean;
}
