/**
 * Writes that become durable together. Per item it keeps what was stored before the group and what shall be after,
 * so that an item written many times in one group is stored once.
 */
import type { Bytes } from '../base/index.ts';
import type { Batch, Entry } from '../engine/index.ts';
import type { Item, ItemKey, Lsn } from './item.ts';
import { logKey, recordKey, ridBytes, STATE_KEY, tombstoneKey } from './keyspace.ts';
import { encodeRecord } from './record.ts';
import { encodeState, type PartitionState } from './state.ts';
import { encodeTombstone } from './tombstone.ts';

const EMPTY: Bytes = new Uint8Array(0);

export interface Touched {
  readonly key: ItemKey;
  /** As stored when the group began. */
  readonly before: Item | undefined;
  after: Item | undefined;
}

interface Deletion {
  readonly item: Item;
  readonly lsn: Lsn;
  readonly timestampSec: number;
}

export class CommitGroup {
  readonly touched = new Map<string, Touched>();
  /** Called once each with undefined when durable, or with the reason why not. */
  readonly completions: ((failure: Error | undefined) => void)[] = [];
  /** Bytes of bodies, to cut a group before it gets too long. */
  bodyBytes = 0;
  /** LSN of the last intent in the group. */
  lsn: Lsn = 0;
  readonly #deletions: Deletion[] = [];
  /** Keys that are only removed, such as expired tombstones. */
  readonly #removals: Bytes[] = [];

  get isEmpty(): boolean {
    return this.completions.length === 0 && this.#removals.length === 0;
  }

  /** Notes that `key` goes from `current` to `after` at `lsn`. */
  change(key: ItemKey, current: Item | undefined, after: Item | undefined, at: Stamped): void {
    const touched = this.touched.get(key.text);
    if (touched === undefined) this.touched.set(key.text, { key, before: current, after });
    else touched.after = after;
    this.bodyBytes += after?.body.length ?? 0;
    const before = touched === undefined ? current : touched.before;
    // An item that came and went inside the group was never visible: nobody needs to learn of its end.
    if (current !== undefined && after === undefined && before?.rid === current.rid)
      this.#deletions.push({ item: current, ...at });
  }

  remove(key: Bytes): void {
    this.#removals.push(key);
  }

  get deletionCount(): number {
    return this.#deletions.length;
  }

  /** The group as one atomic batch, with the counters that go with it. */
  toBatch(state: PartitionState): Batch {
    const puts: Entry[] = [{ key: STATE_KEY, value: encodeState(state) }];
    const deletes: Bytes[] = [...this.#removals];
    for (const { key, before, after } of this.touched.values()) {
      const isReplaced = before !== undefined && after !== undefined && before.rid === after.rid;
      if (before !== undefined) {
        deletes.push(logKey(before.lsn, before.rid));
        if (!isReplaced) deletes.push(recordKey(before.rid));
        if (after === undefined) deletes.push(key.primary);
      }
      if (after !== undefined) {
        puts.push({ key: recordKey(after.rid), value: encodeRecord(after) });
        puts.push({ key: logKey(after.lsn, after.rid), value: EMPTY });
        if (!isReplaced) puts.push({ key: key.primary, value: ridBytes(after.rid) });
      }
    }
    for (const { item, lsn, timestampSec } of this.#deletions)
      puts.push({
        key: tombstoneKey(lsn, item.rid),
        value: encodeTombstone({ timestampSec, primary: item.primary }),
      });
    return { deletes, puts };
  }

  finish(failure: Error | undefined): void {
    for (const complete of this.completions) complete(failure);
  }
}

export interface Stamped {
  readonly lsn: Lsn;
  readonly timestampSec: number;
}
