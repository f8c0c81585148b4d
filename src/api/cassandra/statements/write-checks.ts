/** What Cassandra refuses of the values of a write: keys that are too long, and values that no index could hold. */
import { invalid } from '../errors.ts';
import type { ColumnSchema, IndexSchema, TableSchema } from '../schema/table-schema.ts';
import type { RowWrite } from './row-write.ts';

/** Cassandra's own. */
const VALUE_BYTES_MAX = 0xffff;

export function checkWrite({ table: { schema }, clustering, change }: RowWrite): void {
  checkClustering(clustering, schema);
  for (const index of schema.indexes) {
    const column = schema.column(index.column);
    const written = change.columns.get(index.column);
    if (column === undefined || written === undefined) continue;
    const sizes = [written.cell?.value?.length ?? 0];
    for (const [path, { value }] of written.elements ?? [])
      sizes.push(
        index.part === 'keys' || column.type.kind === 'set'
          ? path.length
          : index.part === 'entries'
            ? Math.max(path.length, value?.length ?? 0)
            : (value?.length ?? 0),
      );
    const greatest = sizes.reduce((most, size) => Math.max(most, size));
    if (greatest > VALUE_BYTES_MAX) throw tooLarge(greatest, index, schema);
  }
}

function tooLarge(size: number, { name, options }: IndexSchema, schema: TableSchema) {
  return invalid(
    `Cannot index value of size ${size} for index ${name} on ${schema.keyspace}.${schema.name}(${options.target}) (maximum allowed size=${VALUE_BYTES_MAX})`,
  );
}

function checkClustering(clustering: RowWrite['clustering'], schema: TableSchema): void {
  if (clustering === undefined) return;
  const size = clustering.reduce((sum, value) => sum + value.length, 0);
  if (size > VALUE_BYTES_MAX)
    throw invalid(`Key length of ${size} is longer than maximum of ${VALUE_BYTES_MAX}`);
  const [only] = clustering;
  // The name of the cell of such a table is its one clustering column.
  if (schema.isCompact && schema.clustering.length === 1 && only?.length === 0)
    throw invalid(
      `Invalid empty or null value for column ${(schema.clustering[0] as ColumnSchema).name}`,
    );
}
