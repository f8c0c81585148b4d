/** Statements about functions and aggregates. */
import type { TableName, Term } from '../cql/ast.ts';

export type FunctionStatement =
  | {
      readonly kind: 'createFunction';
      readonly name: TableName;
      readonly replaces: boolean;
      readonly ifNotExists: boolean;
      /** Names and texts of types. */
      readonly arguments: readonly (readonly [string, string])[];
      readonly calledOnNull: boolean;
      readonly returnType: string;
      readonly language: string;
      readonly body: string;
    }
  | {
      readonly kind: 'createAggregate';
      readonly name: TableName;
      readonly replaces: boolean;
      readonly ifNotExists: boolean;
      readonly argumentTypes: readonly string[];
      readonly stateFunction: string;
      readonly stateType: string;
      readonly finalFunction: string | undefined;
      readonly initial: Term | undefined;
    }
  | {
      readonly kind: 'dropFunction' | 'dropAggregate';
      readonly name: TableName;
      readonly ifExists: boolean;
      /** Undefined: the only one of this name. */
      readonly argumentTypes: readonly string[] | undefined;
    };
