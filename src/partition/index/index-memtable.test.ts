// Goal: pages of an index are the store and the memory as one, in order, never longer than asked for.
// Method: seeded random changes, some of them written to the store, some on their way there, some in memory, sealed at
// random; read in pages of every size and direction against a model.
import { expect, test } from 'vitest';
import { seededRandom } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { MemoryBudget } from '../read/memory-budget.ts';
import { writeEntries } from './index-flush.ts';
import { decodeChanges, encodeChanges } from './index-log.ts';
import { IndexMemtable } from './index-memtable.ts';
import { ridText } from './index-run.ts';
import type { IndexView } from './index-view.ts';
import { ridOfEntry } from './indexing.ts';

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
    const memory = new IndexMemtable(new MemoryBudget());
    const model = new Set<string>();
    const stem = (): string => `${PREFIX}k${random.below(6)}`;
    // Around the ends of lists, and in a partition whose numbers are large.
    const base = seed % 2 === 0 ? 0 : 3 * 2 ** 40;
    const rid = (): number =>
      base + random.below(3) * 1024 + random.below(random.below(2) ? 1024 : 9);
    const change = (): { added: string[]; removed: string[] } => {
      const added = Array.from({ length: random.below(60) }, () => stem() + ridText(rid()));
      const removed = [...model].filter((k) => random.below(4) === 0 && !added.includes(k));
      for (const entry of added) model.add(entry);
      for (const entry of removed) model.delete(entry);
      return { added, removed };
    };
    const apply = (): void => {
      for (let rounds = random.below(4); rounds > 0; rounds--) {
        memory.apply(change());
        if (random.below(2) === 0) memory.view(store);
      }
    };
    for (let flushes = random.below(4); flushes > 0; flushes--) {
      apply();
      const flush = memory.beginFlush();
      if (flush === undefined) throw new Error('nothing holds the memory');
      // Cut off by a crash and done again.
      if (random.below(2) === 0) await writeEntries(store, flush);
      expect(await writeEntries(store, flush)).toBe(true);
      memory.endFlush(flush);
    }
    apply();
    memory.beginFlush();
    apply();
    const view = memory.view(store);
    const seen = [...model].sort();
    // What happens later is not seen.
    memory.apply(change());
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
    for (let stemNumber = 0; stemNumber < 6; stemNumber++) {
      const stem = `${PREFIX}k${stemNumber}`;
      const rids = seen.filter((entry) => entry.startsWith(stem)).map(ridOfEntry);
      expect(await view.rids(key(stem), { read: 1e6, cached: 1e6 })).toEqual(rids);
      if (rids.length > 0)
        expect(
          await view.rids(key(stem), { read: rids.length - 1, cached: rids.length - 1 }),
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
