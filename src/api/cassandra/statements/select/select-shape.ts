/** A SELECT without its values, for the report of which statements cost most. */
import type { Relation, SelectStatement } from '../../cql/ast.ts';

export interface SelectShape {
  readonly text: string;
  readonly equalityPaths: readonly string[];
  /** True where relations compare columns with values, and not tokens or nothing. */
  readonly isKeyed: boolean;
}

export function selectShape(statement: SelectStatement): SelectShape {
  const { table, where, orderBy, allowsFiltering } = statement;
  const name = table.keyspace === undefined ? table.name : `${table.keyspace}.${table.name}`;
  const order = orderBy.map(
    ({ column, isDescending }) => `${column}${isDescending ? ' DESC' : ''}`,
  );
  const text = [
    `SELECT FROM ${name}`,
    ...(where.length === 0 ? [] : [`WHERE ${where.map(relationShape).join(' AND ')}`]),
    ...(order.length === 0 ? [] : [`ORDER BY ${order.join(', ')}`]),
    ...(allowsFiltering ? ['ALLOW FILTERING'] : []),
  ].join(' ');
  return {
    text: text.slice(0, TEXT_LENGTH_MAX),
    equalityPaths: where.flatMap((relation) =>
      relation.kind === 'column' && relation.operator === '=' ? [`/${relation.column}`] : [],
    ),
    isKeyed: !allowsFiltering && where.some(({ kind }) => kind === 'column' || kind === 'in'),
  };
}

const TEXT_LENGTH_MAX = 1000;

function relationShape(relation: Relation): string {
  switch (relation.kind) {
    case 'column':
      return `${relation.column} ${relation.operator} ?`;
    case 'in':
      return `${relation.column} IN (?)`;
    case 'notNull':
      return `${relation.column} IS NOT NULL`;
    case 'element':
      return `${relation.column}[?] ${relation.operator} ?`;
    case 'columns':
      return `(${relation.columns.join(', ')}) ${relation.operator} ?`;
    case 'columnsIn':
      return `(${relation.columns.join(', ')}) IN (?)`;
    case 'token':
      return `token(${relation.columns.join(', ')}) ${relation.operator} ?`;
  }
}
