// Goal: pages of an index are the store and the memory as one, in order, never longer than asked for.
// Method: seeded random contents in store, frozen and active memory, read in pages of every size against a model.
import { expect, test } from 'vitest';
import { seededRandom } from '../base/index.ts';
import type { KeyRange } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { IndexMemory, type IndexView } from './index-memory.ts';

const key = (text: string): Uint8Array => Buffer.from(text, 'latin1');

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

test.each([1, 2, 3])('pages agree with a model (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  const engine = memoryEngine();
  const store = await engine.open('index');
  const memory = new IndexMemory();
  const model = new Set<string>();
  const anyKey = (): string => `k${random.below(60).toString().padStart(2, '0')}`;
  const change = (): { added: string[]; removed: string[] } => {
    const added = Array.from({ length: random.below(15) }, anyKey).filter((k) => !model.has(k));
    const removed = [...model].filter((k) => random.below(4) === 0 && !added.includes(k));
    for (const k of added) model.add(k);
    for (const k of removed) model.delete(k);
    return { added: [...new Set(added)], removed };
  };
  const first = change();
  await store.commit({
    deletes: [],
    puts: first.added.map((k) => ({ key: key(k), value: key('') })),
  });
  memory.apply(change());
  memory.freeze();
  memory.apply(change());
  const view = memory.view(store);
  const range = { start: key('k05'), end: key('k50') };
  const expected = [...model].filter((k) => k >= 'k05' && k < 'k50').sort();
  for (const limit of [1, 2, 7, 100]) {
    expect(await readAll(view, range, { limit, reverse: false })).toEqual(expected);
    expect(await readAll(view, range, { limit, reverse: true })).toEqual([...expected].reverse());
  }
  await store.close();
  await engine.close();
});
