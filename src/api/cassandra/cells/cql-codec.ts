/** Stored rows as values, for SQL and for indexes: column names to the JSON of their values. */
import { type Bytes, type Clock, DomainError } from '../../../base/index.ts';
import type { Codec, Path, Value, ValueMap } from '../../../value/index.ts';
import { jsonOf } from '../types/values.ts';
import { indexValue } from './index-terms.ts';
import { liveRow } from './live-row.ts';
import type { Row } from './row.ts';
import { decodeRow } from './row-codec.ts';

export function cqlCodec(clock: Clock): Codec {
  const decode = (body: Bytes): ValueMap =>
    rowValue(decodeRow(body), Math.floor(clock.nowMs() / 1000));
  return {
    encoding: 'cql',
    decode,
    encode() {
      throw new DomainError('invalidInput', 'Rows are made from the columns of their table.');
    },
    indexed: (body) => indexValue(decodeRow(body)),
    pluck(body: Bytes, path: Path): Value {
      let value: Value = decode(body);
      for (const step of path) {
        if (typeof value !== 'object' || value === null) return undefined;
        value = (value as Readonly<Record<string | number, Value>>)[step as string];
      }
      return value;
    },
  };
}

/** Keys and columns that are alive; null columns are absent. */
export function rowValue(row: Row, nowSec: number): ValueMap {
  const value: Record<string, Value> = {};
  for (const { name, type, value: bytes } of [...row.partitionKey, ...row.clustering])
    value[name] = jsonOf(type, bytes);
  const live = liveRow(row, undefined, nowSec);
  for (const [name, { value: bytes }] of live?.values ?? []) {
    const column = row.columns.get(name);
    if (column !== undefined) value[name] = jsonOf(column.type, bytes);
  }
  return value;
}
