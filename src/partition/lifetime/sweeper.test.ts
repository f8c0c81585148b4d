// Goal: a step that fails loses no items. Method: a partition whose writes are refused for a while.
import { expect, test } from 'vitest';
import { DomainError, FakeClock } from '../../base/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { commandOf } from '../commit/command/write-command.ts';
import { keyOf, openForTest, putOp, textOf } from '../test-kit.ts';
import { Sweeper, type SweptPartition } from './sweeper.ts';

const REFUSED = new DomainError('unavailable', 'about to be replaced');

test.each([
  ['a scan', false],
  ['the calendar', true],
])('items that %s found and a refused write left are removed later', async (_, isScanned) => {
  const clock = new FakeClock(1_000_000);
  const partition = await openForTest(await memoryEngine().open('p'), { clock, defaultTtlSec: -1 });
  let isRefusing = false;
  const swept: SweptPartition = {
    stored: partition.stored,
    get invisible() {
      return partition.invisible;
    },
    write: (command) => (isRefusing ? Promise.reject(REFUSED) : partition.write(command)),
  };
  for (const id of ['1', '2'])
    await partition.write(
      commandOf({ ...putOp('upsert', keyOf('a', id), id), ttlSec: 10 } as never),
    );
  const sweeper = new Sweeper(swept, clock);
  if (isScanned) expect(await sweeper.step(10)).toEqual({ removed: [], hasMore: false });
  clock.advance(11_000);
  isRefusing = true;
  await expect(sweeper.step(10)).rejects.toBe(REFUSED);
  isRefusing = false;
  const { removed } = await sweeper.step(10);
  expect(removed.map((item) => textOf(item)?.slice(0, 1)).sort()).toEqual(['1', '2']);
});
