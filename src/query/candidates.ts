/** Candidates of one partition in rid order, batch by batch. */
import { concatBytes } from '../base/index.ts';
import type { KeyRange } from '../engine/index.ts';
import { KeyWriter } from '../value/index.ts';
import type { Access } from './access.ts';
import type { Candidate, ItemReader } from './reader.ts';
import type { Work } from './work.ts';

/** Items of one batch: enough to spread the cost of a call, few enough to stop early. */
const BATCH_ITEMS = 100;

/** Few items are asked for first, as many as may do; the more of them do not match, the more at once. */
function larger(batchItems: number): number {
  return Math.min(BATCH_ITEMS, batchItems * 2);
}

const writer = new KeyWriter();

/** Items that an access names, from a rid on. `read` is told as many as the caller can use, if it knows. */
export async function* candidates(
  reader: ItemReader,
  access: Access,
  from: number,
  work: Work,
  batchItems = BATCH_ITEMS,
): AsyncGenerator<readonly Candidate[]> {
  switch (access.kind) {
    case 'none':
      return;
    case 'scan':
      yield* scanned(reader, from, work, batchItems);
      return;
    case 'posting':
      yield* posted(reader, access.prefix, from, work, batchItems);
      return;
    case 'rids':
      yield* fetched(reader, access.rids, from, work, batchItems);
      return;
  }
}

async function* scanned(
  reader: ItemReader,
  from: number,
  work: Work,
  batchItems: number,
): AsyncGenerator<readonly Candidate[]> {
  let limit = batchItems;
  for (let next: number | undefined = from; next !== undefined; limit = larger(limit)) {
    const page: Awaited<ReturnType<ItemReader['scanItems']>> = await reader.scanItems(next, limit);
    yield counted(page.items, reader, work);
    next = page.next;
  }
}

async function* posted(
  reader: ItemReader,
  prefix: Uint8Array,
  from: number,
  work: Work,
  batchItems: number,
): AsyncGenerator<readonly Candidate[]> {
  let range: KeyRange | undefined = {
    start: writer.reset().raw(prefix).u64(from).take(),
    end: concatBytes(prefix, Uint8Array.of(0xff)),
  };
  for (let limit = batchItems; range !== undefined; limit = larger(limit)) {
    const page: Awaited<ReturnType<ItemReader['scanIndex']>> = await reader.scanIndex(range, {
      limit,
      bytesMax: 1024 * 1024,
    });
    work.indexEntries += page.entries.length;
    yield counted(await reader.readMany(page.entries.map(reader.ridOf)), reader, work);
    range = page.rest;
  }
}

async function* fetched(
  reader: ItemReader,
  rids: readonly number[],
  from: number,
  work: Work,
  batchItems: number,
): AsyncGenerator<readonly Candidate[]> {
  let at = from === 0 ? 0 : rids.findIndex((rid) => rid >= from);
  for (let limit = batchItems; at >= 0 && at < rids.length; limit = larger(limit)) {
    yield counted(await reader.readMany(rids.slice(at, at + limit)), reader, work);
    at += limit;
  }
}

/** What was really there, within the part of the hash space asked for. */
export function counted(
  found: readonly (Candidate | undefined)[],
  reader: ItemReader,
  work: Work,
): readonly Candidate[] {
  const items: Candidate[] = [];
  for (const item of found) {
    if (item === undefined) continue;
    work.itemsLoaded++;
    work.bytesLoaded += item.body.length;
    if (reader.isWithin(item)) items.push(item);
  }
  return items;
}
