/** A stored row as SELECT sees it: keys, values that are alive, and the static columns of its partition. */
import type { Bytes } from '../../../../base/index.ts';
import { deletionOver } from '../../cells/compact.ts';
import { type LiveRow, type LiveValue, liveRow } from '../../cells/live-row.ts';
import type { KeyColumn, Row } from '../../cells/row.ts';
import { encodeClustering } from '../../schema/table-keys.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import type { RowAccess } from '../expressions/context.ts';

/** The header of a partition: what hides its rows, and its static columns. */
export interface PartitionHeader {
  readonly row: Row;
  readonly statics: LiveRow | undefined;
}

export function headerOf(row: Row, { droppedAt }: TableSchema, nowSec: number): PartitionHeader {
  return { row, statics: liveRow(row, undefined, nowSec, droppedAt) };
}

export class FoundRow implements RowAccess {
  readonly partitionKey: readonly KeyColumn[];
  /** Empty for a partition that has static columns only. */
  readonly clustering: readonly KeyColumn[];
  readonly #values: ReadonlyMap<string, LiveValue>;
  readonly #statics: ReadonlyMap<string, LiveValue> | undefined;

  readonly #schema: TableSchema;

  constructor(live: LiveRow, statics: LiveRow | undefined, schema: TableSchema) {
    this.#schema = schema;
    this.partitionKey = live.partitionKey;
    this.clustering = live.clustering;
    this.#values = live.values;
    this.#statics = statics?.values;
  }

  value(name: string): Bytes | undefined {
    return this.#cell(name)?.value ?? this.#key(name);
  }

  timestamp(name: string): bigint | undefined {
    return this.#cell(name)?.timestamp;
  }

  expiresAtSec(name: string): number | undefined {
    return this.#cell(name)?.expiresAtSec;
  }

  #cell(name: string): LiveValue | undefined {
    return this.#values.get(name) ?? this.#statics?.get(name);
  }

  /** By place, because key columns can be renamed. */
  #key(name: string): Bytes | undefined {
    const column = this.#schema.column(name);
    if (column?.kind === 'partition_key') return this.partitionKey[column.position]?.value;
    return column?.kind === 'clustering' ? this.clustering[column.position]?.value : undefined;
  }
}

/** Undefined where nothing of the row is alive. */
export function foundRow(
  row: Row,
  header: PartitionHeader | undefined,
  schema: TableSchema,
  nowSec: number,
): FoundRow | undefined {
  const live = liveRow(row, overRow(row, header, schema), nowSec, schema.droppedAt);
  return live === undefined ? undefined : new FoundRow(live, header?.statics, schema);
}

function overRow(row: Row, header: PartitionHeader | undefined, schema: TableSchema) {
  if (header === undefined) return undefined;
  const { deletion, ranges } = header.row;
  if (ranges.length === 0) return deletion;
  const rowKey = encodeClustering(
    schema,
    row.clustering.map(({ value }) => value),
  );
  return deletionOver(header.row, rowKey);
}
