/** The rows of a global secondary index, as its definition selects them from items. */
import { assert, DomainError, INDEXED_EVALUATION } from '../../../base/index.ts';
import { type ContainerRecord, documentRid } from '../../../catalog/index.ts';
import type { Projection } from '../../../service/index.ts';
import {
  jsonCodec,
  parsePartitionKeyPath,
  readPath,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import { toKeyValue } from '../items/partition-key-header.ts';
import { encodeItem } from '../items/system-properties.ts';
import { type CompiledQuery, runQuery } from '../sql/index.ts';
import { compileDefinition } from './global-index-definition.ts';

/** The id of a row is the `_rid` of its item; the item's own id, where it is selected, is `_id` in the row. */
export function projectRows(index: ContainerRecord, source: ContainerRecord): Projection {
  assert(index.globalIndex !== undefined, 'only an index has rows');
  const query = compileDefinition(index.globalIndex.definition);
  const keyPaths = index.partitionKey.paths.map((path) => parsePartitionKeyPath(path) ?? []);
  const idOf = (rid: number) => documentRid(source.databaseRid, source.rid, rid);
  return {
    idOf,
    rowOf(item) {
      const selected = selectedOf(query, jsonCodec.decode(item.body));
      const { id, ...rest } = selected;
      const row = { id: idOf(item.rid), ...(id === undefined ? {} : { _id: id }), ...rest };
      const partitionKey = keyPaths.map((path) => toKeyValue(readPath(row, path)));
      return { ...encodeItem(row), partitionKey, ttlSec: 0 };
    },
  };
}

/** An evaluation that exceeds its budget gives an empty row, so that no item stops the follower of the index. */
function selectedOf(query: CompiledQuery, item: Value): ValueMap {
  try {
    const [selected] = runQuery(query, [item], [], 0, INDEXED_EVALUATION);
    return (selected ?? {}) as ValueMap;
  } catch (error) {
    if (error instanceof DomainError) return {};
    throw error;
  }
}
