// Goal: a change feed processor with leases works: hosts share ranges, take over from each other, and lose nothing.
// Method: the JavaScript client has none, so a small one after the documented protocol is driven by hand: one lease item
// per range in a container of its own, with owner and continuation, changed only under its etag.
import {
  ChangeFeedStartFrom,
  type Container,
  type FeedRange,
  type ItemDefinition,
} from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let monitored: Container;
let leases: Container;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'd' });
  const spec = { id: 'monitored', partitionKey: '/pk', throughput: 25_000 };
  monitored = (await database.containers.create(spec)).container;
  leases = (await database.containers.create({ id: 'leases', partitionKey: '/id' })).container;
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Lease extends ItemDefinition {
  readonly id: string;
  readonly range: { readonly minInclusive: string; readonly maxExclusive: string };
  readonly owner?: string | undefined;
  readonly continuation?: string | undefined;
  readonly _etag?: string;
}

/** One instance of an application that follows the feed. */
class ProcessorHost {
  readonly seen: string[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** Every range gets one lease, by the first processor that creates it. */
  async initialize(): Promise<void> {
    for (const range of await monitored.getFeedRanges()) {
      const { minInclusive, maxExclusive } = range as unknown as Lease['range'];
      const lease: Lease = { id: `lease-${minInclusive}`, range: { minInclusive, maxExclusive } };
      await leases.items.create(lease).catch((error) => expect(error.code).toBe(409));
    }
  }

  async listLeases(): Promise<Lease[]> {
    return (await leases.items.query<Lease>('SELECT * FROM c ORDER BY c.id').fetchAll()).resources;
  }

  /** False where another host was faster. */
  async acquire(lease: Lease): Promise<Lease | undefined> {
    return this.#replace(lease, { owner: this.#name });
  }

  /** Reads a page of the lease's range, hands it to the application, then writes the checkpoint. */
  async process(lease: Lease): Promise<Lease | undefined> {
    const start =
      lease.continuation === undefined
        ? ChangeFeedStartFrom.Beginning(feedRangeOf(lease))
        : ChangeFeedStartFrom.Continuation(lease.continuation);
    const iterator = monitored.items.getChangeFeedIterator({
      changeFeedStartFrom: start,
      maxItemCount: 5,
    });
    const { result, continuationToken } = await iterator.readNext();
    const checkpoint = await this.#replace(lease, { continuation: continuationToken });
    // A host that lost its lease drops the batch: the new owner reads it again.
    if (checkpoint !== undefined)
      for (const { id } of (result ?? []) as unknown as { id: string }[]) this.seen.push(id);
    return checkpoint;
  }

  async #replace(lease: Lease, change: Partial<Lease>): Promise<Lease | undefined> {
    try {
      const { resource } = await leases
        .item(lease.id, lease.id)
        .replace<Lease>(
          { ...lease, ...change },
          { accessCondition: { type: 'IfMatch', condition: lease._etag as string } },
        );
      return resource;
    } catch (error) {
      expect((error as { code: number }).code).toBe(412);
      return undefined;
    }
  }

  async drain(lease: Lease): Promise<void> {
    for (let current: Lease | undefined = lease, before = -1; current !== undefined; ) {
      before = this.seen.length;
      current = await this.process(current);
      if (this.seen.length === before) return;
    }
  }
}

let ranges: readonly FeedRange[] = [];

function feedRangeOf({ range }: Lease): FeedRange {
  const found = ranges.find(
    (each) => (each as unknown as Lease['range']).minInclusive === range.minInclusive,
  );
  if (found === undefined) throw new Error('no range');
  return found;
}

async function write(name: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `${name}${n}`);
  for (const [n, id] of ids.entries()) await monitored.items.create({ id, pk: `k${n}` });
  return ids;
}

test('two hosts share the ranges; one takes over from the other without a gap, over a split', async () => {
  const first = new ProcessorHost('first');
  const second = new ProcessorHost('second');
  ranges = await monitored.getFeedRanges();
  await Promise.all([first.initialize(), second.initialize()]);
  const all = await first.listLeases();
  expect(all).toHaveLength(3);
  const written = await write('a', 30);
  const [one, two, three] = all as [Lease, Lease, Lease];
  const [mine, also] = [await first.acquire(one), await first.acquire(two)];
  expect(await second.acquire(one)).toBeUndefined();
  const theirs = await second.acquire(three);
  for (const lease of [mine, also]) if (lease !== undefined) await first.drain(lease);
  if (theirs !== undefined) await second.drain(theirs);
  expect([...first.seen, ...second.seen].sort()).toEqual([...written].sort());
  expect(first.seen.length * second.seen.length).toBeGreaterThan(0);

  // The second host takes all leases while the first still thinks it owns one; a range splits on the way.
  const old = (await first.listLeases()).find(({ owner }) => owner === 'first') as Lease;
  const record = account.service.containers.find(
    account.service.databases.find('d') as never,
    'monitored',
  ) as never;
  await account.service.resizer.split(record, '0');
  written.push(...(await write('b', 30)));
  for (const lease of await second.listLeases()) {
    const taken = await second.acquire(lease);
    if (taken !== undefined) await second.drain(taken);
  }
  const before = first.seen.length;
  expect(await first.process(old)).toBeUndefined();
  expect(first.seen).toHaveLength(before);
  expect([...first.seen, ...second.seen].sort()).toEqual([...written].sort());
});
