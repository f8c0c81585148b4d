// Goal: the posting blocks of a path are searched once, and found again after a flush.
// Method: an index whose entries are flushed to a store in memory that counts its scans.
import { expect, test } from 'vitest';
import type { KeyRange } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { MemoryBudget } from '../../read/memory-budget.ts';
import { IndexMemtable } from '../memory/index-memtable.ts';
import { writeEntries } from '../stored/index-flush.ts';
import { countingView, flushTo } from '../stored/test-kit.ts';

const PATH = '\u0020somepath';
const OTHER = '\u0020otherone';
const OPTIONS = { limit: 100, bytesMax: 1e6 };

test('blocks are searched once per path, and again after a flush', async () => {
  const store = await memoryEngine().open('a');
  const memtable = new IndexMemtable(new MemoryBudget());
  const view = countingView(store);
  const range = (start: string, end: string): KeyRange => ({
    start: Buffer.from(start, 'latin1'),
    end: Buffer.from(end, 'latin1'),
  });
  const count = async (wanted: KeyRange): Promise<number> =>
    (await memtable.view(view).scan(wanted, OPTIONS)).entries.length;
  const value = range(`${PATH}x`, `${PATH}x\u00ff`);
  const wholePath = range(PATH, '\u0020somepati');

  memtable.postings.change(`${PATH}x`, 1, true);
  for (let rid = 1; rid <= 10; rid++) memtable.postings.change(`${OTHER}y`, rid, true);
  await flushTo(store, memtable);
  for (let round = 0; round < 3; round++) {
    expect(await count(value)).toBe(1);
    expect(await count(wholePath)).toBe(1);
    expect(view.counts.scan).toBe(1);
  }
  expect(await count(range(`${OTHER}y`, `${OTHER}y\u00ff`))).toBe(10);
  expect(await count(range('\u0020', '\u0021'))).toBe(11);

  for (let rid = 2; rid <= 9; rid++) memtable.postings.change(`${PATH}x`, rid, true);
  const flush = memtable.beginFlush();
  expect(await count(value), 'during the flush').toBe(9);
  if (flush !== undefined) {
    await writeEntries(store, flush);
    expect(await count(value), 'written, flush not ended').toBe(9);
    memtable.endFlush(flush);
  }
  expect(await count(value)).toBe(9);
  expect(await count(wholePath)).toBe(9);
});
