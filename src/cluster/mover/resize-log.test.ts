// Goal: the log of splits survives a restart, with its causes. Method: one store, two logs.
import { expect, test } from 'vitest';
import { systemClock } from '../../base/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { ResizeLog } from './resize-log.ts';

const container = { databaseRid: 7, rid: 9 };

test('ended splits are read again after a restart; those of dropped containers are not', async () => {
  const store = await memoryEngine().open('catalog');
  const log = await ResizeLog.open(systemClock, store, () => ({}));
  const split = { kind: 'split' as const, parents: ['0'], children: ['1', '2'] };
  log.begin({ ...split, container, cause: 'heat' }).done(1234);
  log.begin({ ...split, container, parents: ['1'], children: ['3', '4'], cause: 'hand' });
  log.begin({ ...split, container: { databaseRid: 7, rid: 10 }, cause: 'storage' }).done(1);
  await log.whenStored();

  const again = await ResizeLog.open(systemClock, store, ({ rid }) => (rid === 9 ? {} : undefined));
  expect(again.list(container)).toMatchObject([
    { ...split, cause: 'heat', state: 'done', bytesCopied: 1234 },
  ]);
  expect(again.list({ databaseRid: 7, rid: 10 })).toEqual([]);
});
