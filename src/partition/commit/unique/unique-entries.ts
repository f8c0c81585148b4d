/** The unique entries that a group of writes puts and deletes. */
import type { Bytes } from '../../../base/index.ts';
import type { Entry } from '../../../engine/index.ts';
import type { Value } from '../../../value/index.ts';
import type { Item } from '../../item/item.ts';
import { visible } from '../command/write-command.ts';
import type { PendingChange } from '../pending-change.ts';
import type { UniqueKeys } from './unique-keys.ts';

interface Written {
  readonly pending: readonly PendingChange[];
  /** Owners of values after the group, where the changes of its items alone do not tell them. */
  readonly owners: ReadonlyMap<string, string | undefined>;
  valueAfter(change: PendingChange): Value;
}

interface Reindexed {
  readonly item: Item;
  readonly index: number | undefined;
}

export function addUniqueEntries(
  unique: UniqueKeys,
  group: Written,
  reindexed: Iterable<Reindexed>,
  { puts, deletes }: { readonly puts: Entry[]; readonly deletes: Bytes[] },
): void {
  const { pending, owners } = group;
  const put = (entry: string, value: Bytes): void => {
    if (!owners.has(entry)) puts.push({ key: bytesOf(entry), value });
  };
  for (const { item, index } of reindexed)
    if (index !== undefined)
      for (const entry of unique.entriesOfIndex(item, index)) put(entry, item.primary);
  for (const change of pending) {
    const [before, after] = [visible(change.before), visible(change.after)];
    const { removed, added } = unique.changes(before, after, group.valueAfter(change));
    for (const entry of removed) if (!owners.has(entry)) deletes.push(bytesOf(entry));
    for (const entry of added) put(entry, change.key.primary);
  }
  for (const [entry, owner] of owners)
    if (owner === undefined) deletes.push(bytesOf(entry));
    else puts.push({ key: bytesOf(entry), value: bytesOf(owner) });
}

function bytesOf(entry: string): Bytes {
  return Buffer.from(entry, 'latin1');
}
