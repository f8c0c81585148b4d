/**
 * The keys of a table's rows. Partition keys are placed by Cassandra's token, rows by their clustering columns in
 * their directions. The values of an address are the JSON of the columns, so that the NoSQL API can name rows too.
 *   epk       01 · token with its sign bit flipped
 *   row key   00 header of the partition · 01 and the ordered bytes of the clustering columns
 */
import type { Bytes } from '../../../base/index.ts';
import type { Item } from '../../../partition/index.ts';
import { type Epk, epkOfToken, type Value } from '../../../value/index.ts';
import { decodeRow } from '../cells/row-codec.ts';
import { inverted, orderedBytes } from '../types/ordered.ts';
import { tokenOf } from '../types/token.ts';
import { bytesOfJson, jsonOf } from '../types/values.ts';
import type { ColumnSchema, TableSchema } from './table-schema.ts';

/** The row key of the header, which keeps static columns and deletions of its partition. */
export const HEADER_KEY: readonly Value[] = [null];

const HEADER_BYTES = Uint8Array.of(0);
const ROW = Uint8Array.of(1);

export class TableKeys {
  readonly #schema: TableSchema;

  constructor(schema: TableSchema) {
    this.#schema = schema;
  }

  epk(partitionKey: readonly Value[]): Epk {
    const columns = this.#schema.partitionKey.map(({ type }, at) =>
      bytesOfJson(type, partitionKey[at]),
    );
    return epkOfToken(tokenOf(columns));
  }

  /** The row key of a stored row, because keys of more than 1,900 bytes are cut. */
  rowKeyOf({ body }: Pick<Item, 'body'>): readonly Value[] {
    const { clustering } = decodeRow(body);
    if (clustering.length === 0 && this.#schema.clustering.length > 0) return HEADER_KEY;
    return addressValues(
      this.#schema.clustering,
      clustering.map(({ value }) => value),
    );
  }

  encode(rowKey: readonly Value[]): Bytes {
    if (rowKey.length === 1 && rowKey[0] === null) return HEADER_BYTES;
    return encodeClustering(
      this.#schema,
      rowKey.map((value, at) =>
        bytesOfJson((this.#schema.clustering[at] as ColumnSchema).type, value),
      ),
    );
  }
}

/** @param values - of the first clustering columns, or of all. */
export function encodeClustering(schema: TableSchema, values: readonly Bytes[]): Bytes {
  const parts: Bytes[] = [ROW];
  values.forEach((value, at) => {
    const { type, isDescending } = schema.clustering[at] as ColumnSchema;
    const ordered = orderedBytes(type, value);
    parts.push(isDescending ? inverted(ordered) : ordered);
  });
  return Buffer.concat(parts);
}

/** The values of an address from the bytes of the key columns. */
export function addressValues(
  columns: readonly ColumnSchema[],
  values: readonly Bytes[],
): readonly Value[] {
  return values.map((value, at) => jsonOf((columns[at] as ColumnSchema).type, value));
}
