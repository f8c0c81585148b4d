/** The model: items that must be stored, items that may be stored, and what readers have seen so far. */
import { expect } from 'vitest';
import { bytesToText, type PartitionPosition, type SessionToken } from '../../src/base/index.ts';
import type { FeedChange, Item } from '../../src/partition/index.ts';

/** `pk/id` */
export type Name = string;

export function nameOf(item: Item): Name {
  const { pk, id } = JSON.parse(bytesToText(item.body));
  return `${pk}/${id}`;
}

export class Model {
  /** Acknowledged writes. */
  readonly items = new Map<Name, string>();
  /** Writes of a process that crashed: stored is the text before, or this. */
  readonly unknown = new Map<Name, string | undefined>();
  /** The highest LSN seen, by partition id. */
  readonly #session = new Map<string, number>();

  set(name: Name, text: string | undefined): void {
    if (text === undefined) this.items.delete(name);
    else this.items.set(name, text);
  }

  /** Removes expired items; their texts say when they expire. */
  expire(nowSec: number): readonly Name[] {
    const expired = [...this.items]
      .filter(([, text]) => (JSON.parse(text).end ?? Number.POSITIVE_INFINITY) <= nowSec)
      .map(([name]) => name);
    for (const name of expired) this.items.delete(name);
    return expired;
  }

  remember({ partitionId, lsn }: PartitionPosition): void {
    this.#session.set(partitionId, Math.max(this.#session.get(partitionId) ?? 0, lsn));
  }

  /** The token of all acknowledged writes of all processes. */
  get sessionToken(): SessionToken {
    return [...this.#session].map(([partitionId, lsn]) => ({ partitionId, lsn }));
  }

  /** Decides a write that was not acknowledged by what is stored. */
  resolve(name: Name, stored: string | undefined): void {
    expect([this.items.get(name), this.unknown.get(name)]).toContainEqual(stored);
    this.unknown.delete(name);
    this.set(name, stored);
  }
}

/** Reads the container page by page, over any changes of its partitions. */
export class PageReader {
  continuation: string | undefined;
  isStarted = false;
  rounds = 0;
  /** Items that are there during the whole round. */
  readonly #steady = new Set<Name>();
  readonly #seen = new Set<Name>();

  start(model: Model): void {
    this.isStarted = true;
    this.#seen.clear();
    this.#steady.clear();
    for (const name of model.items.keys()) this.#steady.add(name);
  }

  /** The item was removed for a while: from now on it may be missed, or returned again under another rid. */
  forget(name: Name): void {
    this.#steady.delete(name);
  }

  see(items: readonly Item[], continuation: string | undefined): void {
    for (const item of items) {
      const name = nameOf(item);
      if (this.#steady.has(name)) expect(this.#seen.has(name), `${name} twice`).toBe(false);
      this.#seen.add(name);
    }
    this.continuation = continuation;
    if (continuation !== undefined) return;
    for (const name of this.#steady) expect(this.#seen.has(name), `${name} missed`).toBe(true);
    this.isStarted = false;
    this.rounds++;
  }
}

/** Follows the change feed: the latest write of each item, each once, in order. */
export class FeedReader {
  readonly latest = new Map<Name, { readonly lsn: number; readonly text: string }>();

  see(changes: readonly FeedChange[]): void {
    let last = 0;
    for (const change of changes) {
      if (change.kind !== 'write') throw new Error(`a feed of latest versions has ${change.kind}`);
      expect(change.lsn).toBeGreaterThanOrEqual(last);
      last = change.lsn;
      const name = nameOf(change.item);
      expect(change.lsn, `order of ${name}`).toBeGreaterThan(this.latest.get(name)?.lsn ?? 0);
      this.latest.set(name, { lsn: change.lsn, text: bytesToText(change.item.body) });
    }
  }

  /** After all pages: the feed had the last write of every item. */
  check(model: Model): void {
    for (const [name, text] of model.items) expect(this.latest.get(name)?.text, name).toBe(text);
  }
}
