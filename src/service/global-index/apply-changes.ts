/** Applies a page of changes of the source to an index. Applying it twice is harmless. */
import { concatBytes, DomainError } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Cluster, Projection } from '../../cluster/index.ts';
import {
  type FeedChange,
  type Item,
  type ItemKey,
  type ItemOp,
  itemKeyOf,
  type Rid,
} from '../../partition/index.ts';
import { equalTo } from '../../query/index.ts';
import type { RequestClass } from '../../throughput/index.ts';
import { toOp } from '../items/operations.ts';

interface IndexTarget {
  readonly cluster: Cluster;
  readonly index: ContainerRecord;
  readonly projection: Projection;
  readonly requestClass: RequestClass;
}

/** An item has one row; two only between the two writes that change its key. */
const ROWS = { limit: 10, bytesMax: 64 * 1024 };

export async function applyChanges(
  target: IndexTarget,
  changes: readonly FeedChange[],
): Promise<void> {
  const { cluster, index, requestClass } = target;
  const ids = changes.map((change) => target.projection.idOf(ridOf(change)));
  const attempt = (current: ContainerRecord) => findRows(cluster, current, ids, requestClass);
  const rows = await cluster.withRerouting(index, attempt);
  await Promise.all(
    changes.map((change, at) => applyChange(target, change, rows.get(ids[at] as string) ?? [])),
  );
}

function ridOf(change: FeedChange): Rid {
  switch (change.kind) {
    case 'write':
      return change.item.rid;
    case 'deletion':
      return change.rid;
    case 'version':
      return change.version.item.rid;
  }
}

async function applyChange(
  target: IndexTarget,
  change: FeedChange,
  rows: readonly Item[],
): Promise<void> {
  const put = change.kind === 'write' ? putOf(target, change.item) : undefined;
  // The new row comes first: an index may show an item twice for a short time, but always shows it.
  if (put !== undefined) await write(target, put);
  for (const { primary } of rows) {
    const key: ItemKey = itemKeyOf(primary);
    if (key.text !== put?.key.text) await write(target, { kind: 'delete', key });
  }
}

function putOf({ cluster, index, projection }: IndexTarget, item: Item): ItemOp {
  const { partitionKey, ...row } = projection.rowOf(item);
  const { keys } = cluster.routing(index);
  const key = keys.keyOf(partitionKey, [projection.idOf(item.rid)]);
  return toOp(index, keys, key, partitionKey, { kind: 'upsert', ...row });
}

async function write({ cluster, index, requestClass }: IndexTarget, op: ItemOp): Promise<void> {
  try {
    await cluster.write(index, op, requestClass);
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'itemNotFound')) throw error;
  }
}

/** The rows of these ids, whatever their keys are. */
async function findRows(
  cluster: Cluster,
  index: ContainerRecord,
  ids: readonly string[],
  requestClass: RequestClass,
): Promise<ReadonlyMap<string, readonly Item[]>> {
  const rows = new Map<string, Item[]>();
  for (const route of cluster.routing(index).routes) {
    const reader = await cluster.reader(route, undefined, undefined, requestClass);
    try {
      const terms = reader.termsOf(['id']);
      if (terms === undefined) throw new DomainError('unavailable', 'The index is being built.');
      for (const id of ids) {
        const { start, end } = equalTo(id);
        const range = { start: concatBytes(terms, start), end: concatBytes(terms, end) };
        const { entries } = await reader.scanIndex(range, ROWS);
        if (entries.length === 0) continue;
        const found = await reader.readMany(entries.map((entry) => reader.ridOf(entry)));
        const items = found.filter((item) => item !== undefined) as Item[];
        rows.set(id, [...(rows.get(id) ?? []), ...items]);
      }
    } finally {
      reader.release();
    }
  }
  return rows;
}
