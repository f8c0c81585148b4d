/** Statements about materialized views. */
import type { Options, Relation, TableName } from '../cql/ast.ts';

export type ViewStatement =
  | {
      readonly kind: 'createView';
      readonly view: TableName;
      readonly ifNotExists: boolean;
      readonly base: TableName;
      /** Undefined: all columns. */
      readonly columns: readonly string[] | undefined;
      readonly where: readonly Relation[];
      readonly whereText: string;
      readonly partitionKey: readonly string[];
      readonly clustering: readonly string[];
      readonly clusteringOrder: ReadonlyMap<string, 'asc' | 'desc'>;
      readonly options: Options;
    }
  | {
      readonly kind: 'alterView';
      readonly view: TableName;
      readonly ifExists: boolean;
      readonly options: Options;
    }
  | { readonly kind: 'dropView'; readonly view: TableName; readonly ifExists: boolean };
