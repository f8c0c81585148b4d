// Goal: pages of an index merge store and memory, in order, never longer than the limit.
// Method: seeded random changes, some flushed, some being flushed, some in memory, sorted at random; read in pages of
// every size and direction against a model.
import { expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { MemoryBudget } from '../../read/memory-budget.ts';
import type { IndexView } from '../read/index-view.ts';
import { writeEntries } from '../stored/index-flush.ts';
import { decodeChanges, encodeChanges } from '../stored/index-log.ts';
import { ridOfEntry } from '../terms/indexing.ts';
import { IndexMemtable } from './index-memtable.ts';
import { ridText } from './index-run.ts';

const key = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const PREFIX = '\u0020thispath';

async function readAll(
  view: IndexView,
  range: KeyRange,
  options: { limit: number; reverse: boolean },
): Promise<string[]> {
  const found: string[] = [];
  let rest: KeyRange | undefined = range;
  while (rest !== undefined) {
    const page: Awaited<ReturnType<IndexView['scan']>> = await view.scan(rest, {
      ...options,
      bytesMax: 1e6,
    });
    expect(page.entries.length).toBeLessThanOrEqual(options.limit);
    found.push(...page.entries);
    rest = page.rest;
  }
  return found;
}

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  'pages agree with a model (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const engine = memoryEngine();
    const store = await engine.open('index');
    const memtable = new IndexMemtable(new MemoryBudget());
    const model = new Set<string>();
    const termPrefix = (): string => `${PREFIX}k${random.below(6)}`;
    // Rids around the ends of blocks, and of a partition whose rids are large.
    const base = seed % 2 === 0 ? 0 : 3 * 2 ** 40;
    const rid = (): number =>
      base + random.below(3) * 1024 + random.below(random.below(2) ? 1024 : 9);
    const change = (): { added: string[]; removed: string[] } => {
      const added = Array.from({ length: random.below(60) }, () => termPrefix() + ridText(rid()));
      const removed = [...model].filter((k) => random.below(4) === 0 && !added.includes(k));
      for (const entry of added) model.add(entry);
      for (const entry of removed) model.delete(entry);
      return { added, removed };
    };
    const apply = (): void => {
      for (let rounds = random.below(4); rounds > 0; rounds--) {
        memtable.apply(change());
        if (random.below(2) === 0) memtable.view(store);
      }
    };
    for (let flushes = random.below(4); flushes > 0; flushes--) {
      apply();
      const flush = memtable.beginFlush();
      if (flush === undefined) throw new Error('nothing holds the memtable');
      // Interrupted by a crash and repeated.
      if (random.below(2) === 0) await writeEntries(store, flush);
      expect(await writeEntries(store, flush)).toBe(true);
      memtable.endFlush(flush);
    }
    apply();
    memtable.beginFlush();
    apply();
    const view = memtable.view(store);
    const seen = [...model].sort();
    // Later changes are not visible.
    memtable.apply(change());
    const ranges: [string, string][] = [
      [PREFIX, '\u0021'],
      [`${PREFIX}k1`, `${PREFIX}k4`],
      [`${PREFIX}k2`, `${PREFIX}k2\u00ff`],
      [`${PREFIX}k3${ridText(base + 1024)}`, `${PREFIX}k3\u00ff`],
      [`${PREFIX}k3${ridText(base + 3)}\u0000`, `${PREFIX}k5`],
    ];
    for (const limit of [1, 2, 7, 1000])
      for (const [low, high] of ranges) {
        const range = { start: key(low), end: key(high) };
        const forwards = await readAll(view, range, { limit, reverse: false });
        const backwards = await readAll(view, range, { limit, reverse: true });
        expect(backwards).toEqual([...forwards].reverse());
        expect(forwards).toEqual(seen.filter((k) => k >= low && k < high));
      }
    for (let prefixNumber = 0; prefixNumber < 6; prefixNumber++) {
      const termPrefix = `${PREFIX}k${prefixNumber}`;
      const rids = seen.filter((entry) => entry.startsWith(termPrefix)).map(ridOfEntry);
      expect(await view.rids(key(termPrefix), { read: 1e6, cached: 1e6 })).toEqual(rids);
      if (rids.length > 0)
        expect(
          await view.rids(key(termPrefix), { read: rids.length - 1, cached: rids.length - 1 }),
        ).toBeUndefined();
    }
    await store.close();
    await engine.close();
  },
);

test('changes come back from the log as they were', () => {
  const changes = { added: ['ab', 'c\u0000\u00ff'], removed: ['', 'd'.repeat(500)] };
  expect(encodeChanges(changes).map(decodeChanges)).toEqual([changes]);
});
