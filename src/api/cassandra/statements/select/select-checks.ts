/** What of a SELECT is refused before it runs: ORDER BY, DISTINCT, GROUP BY. */
import type { SelectStatement } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import { columnNamed } from '../scope.ts';
import type { Restrictions } from '../where/restrictions.ts';
import type { Selection } from './selection.ts';

/** Whether rows come in the reverse of their stored order. */
export function orderOf(
  { orderBy }: SelectStatement,
  schema: TableSchema,
  { usesIndex, isKeyRange, equalColumns }: Restrictions,
): boolean {
  if (orderBy.length === 0) return false;
  const columns = orderBy.map(({ column, isDescending }) => ({
    column: columnNamed(schema, column),
    isDescending,
  }));
  if (usesIndex) throw invalid('ORDER BY with 2ndary indexes is not supported.');
  if (isKeyRange)
    throw invalid(
      'ORDER BY is only supported when the partition key is restricted by an EQ or an IN.',
    );
  const { clustering } = schema;
  let at = 0;
  const reversals = columns.map(({ column, isDescending }) => {
    if (column.kind !== 'clustering')
      throw invalid(
        `Order by is currently only supported on the clustered columns of the PRIMARY KEY, got ${column.name}`,
      );
    while (at !== column.position) {
      const skipped = clustering[at++];
      if (skipped === undefined || !equalColumns.has(skipped.name))
        throw invalid(
          'Order by currently only supports the ordering of columns following their declared order in the PRIMARY KEY',
        );
    }
    at++;
    return isDescending !== column.isDescending;
  });
  const [first = false] = reversals;
  if (reversals.some((one) => one !== first)) throw invalid('Unsupported order by relation');
  return first;
}

export function checkDistinct(
  { reads }: Selection,
  schema: TableSchema,
  { hasClustering, others, isKeyRange }: Restrictions,
): void {
  if (hasClustering || others.some(({ kind }) => kind !== 'static'))
    throw invalid(
      'SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.',
    );
  for (const name of reads) {
    const { kind } = columnNamed(schema, name);
    if (kind !== 'partition_key' && kind !== 'static')
      throw invalid(
        `SELECT DISTINCT queries must only request partition key columns and/or static columns (not ${name})`,
      );
  }
  const missing = schema.partitionKey.find(({ name }) => !reads.has(name));
  if (isKeyRange && missing !== undefined)
    throw invalid(
      `SELECT DISTINCT queries must request all the partition key columns (missing ${missing.name})`,
    );
}

/** How many clustering columns make a group, besides the partition; undefined without GROUP BY. */
export function groupedColumns(
  { groupBy, isDistinct }: SelectStatement,
  schema: TableSchema,
  { equalColumns }: Restrictions,
): number | undefined {
  if (groupBy.length === 0) return undefined;
  const keys = [...schema.partitionKey, ...schema.clustering];
  let at = 0;
  const outOfOrder = () =>
    invalid(
      'Group by currently only support groups of columns following their declared order in the PRIMARY KEY',
    );
  for (const name of groupBy) {
    const column = columnNamed(schema, name);
    if (!keys.includes(column))
      throw invalid(
        `Group by is currently only supported on the columns of the PRIMARY KEY, got ${name}`,
      );
    for (;;) {
      const key = keys[at++];
      if (key === undefined) throw outOfOrder();
      if (key === column) break;
      if (!equalColumns.has(key.name)) throw outOfOrder();
    }
  }
  if (at < schema.partitionKey.length)
    throw invalid('Group by is not supported on only a part of the partition key');
  const clustering = at - schema.partitionKey.length;
  if (clustering > 0 && isDistinct)
    throw invalid('Grouping on clustering columns is not allowed for SELECT DISTINCT queries');
  return clustering;
}
