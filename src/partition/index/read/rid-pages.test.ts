// Goal: pages of the rids of a value are together the whole list, wherever they begin. Method: entries stored singly, in
// posting blocks and changed in memory; compared with a set.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { MemoryBudget } from '../../read/memory-budget.ts';
import { IndexMemtable } from '../memory/index-memtable.ts';
import { flushTo } from '../stored/test-kit.ts';
import type { IndexView } from './index-view.ts';

const TERM = '\u0020somepathx';
const NEIGHBOURS = ['\u0020somepathA', '\u0020somepathZ'];

async function ridsFrom(view: IndexView, from: number): Promise<number[]> {
  const all: number[] = [];
  for (let at: number | undefined = from; at !== undefined; ) {
    const page: Awaited<ReturnType<IndexView['ridsFrom']>> = await view.ridsFrom(
      Buffer.from(TERM, 'latin1'),
      at,
    );
    expect(page.rids.length).toBeLessThanOrEqual(40_000);
    for (let place = 0; place < page.rids.length; place++) all.push(page.rids[place] as number);
    at = page.next;
  }
  return all;
}

test.each([
  ['dense', 3, 0],
  ['scattered', 5000, 0],
  ['of a partition that was merged into this one', 40, 2 ** 40],
])('all rids are in the pages: %s (seed 5)', async (_, distance, base) => {
  const random = seededRandom(5);
  const store = await memoryEngine().open('a');
  const memtable = new IndexMemtable(new MemoryBudget());
  const expected = new Set<number>();
  const change = (rid: number, isThere: boolean): void => {
    memtable.postings.change(TERM, rid, isThere);
    if (isThere) expected.add(rid);
    else expected.delete(rid);
  };
  const check = async (): Promise<void> => {
    const rids = [...expected].sort((a, b) => a - b);
    const middle = rids[rids.length >>> 1] as number;
    for (const from of [0, middle, middle + 1, (rids.at(-1) as number) + 1])
      expect(await ridsFrom(memtable.view(store), from)).toEqual(rids.filter((rid) => rid >= from));
  };
  let rid = base;
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 12_000; count++) {
      rid += 1 + random.below(distance);
      change(rid, true);
      for (const other of NEIGHBOURS) memtable.postings.change(other, rid, true);
    }
    for (const old of [...expected]) if (random.below(20) === 0) change(old, false);
    await check();
    if (round < 2) await flushTo(store, memtable);
    if (round < 2) await check();
  }
});
