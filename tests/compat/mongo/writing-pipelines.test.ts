// Goal: pipelines that write lose nothing beside others, and leave nothing behind. Method: the stock driver; merges of
// several clients into one document; a collection as a crash during $out leaves it, over a restart.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAccount } from './harness.ts';

interface Doc {
  _id: number;
  n?: number;
}

test('two $merge with a pipeline into one document both count', async () => {
  const account = await startAccount({ engine: 'late' });
  const db = (await account.connect()).db('merges');
  await db.collection<Doc>('from').insertOne({ _id: 1, n: 1 });
  const whenMatched = [{ $set: { n: { $add: ['$n', '$$new.n'] } } }];
  const merge = () =>
    db
      .collection('from')
      .aggregate([{ $merge: { into: 'total', whenMatched } }])
      .toArray();
  await Promise.all(Array.from({ length: 20 }, merge));
  expect(await db.collection('total').find().toArray()).toEqual([{ _id: 1, n: 20 }]);
  expect(account.failures).toEqual([]);
  await account.close();
});

test('what a crash during $out left is removed at the next start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mesocosm-mongo-out-'));
  const first = await startAccount({ engine: 'sqlite', directory });
  const before = (await first.connect()).db('out');
  await before.createCollection('tmp.agg_out.3f2b8a64-1c1d-4c8a-9b53-0d7b2f9e6a11');
  await before.createCollection('tmp.agg_out.mine');
  await first.close();
  const second = await startAccount({ engine: 'sqlite', directory });
  const db = (await second.connect()).db('out');
  const names = async () => (await db.listCollections().toArray()).map(({ name }) => name);
  while ((await names()).length > 1);
  expect(await names()).toEqual(['tmp.agg_out.mine']);
  expect(second.failures).toEqual([]);
  await second.close();
  rmSync(directory, { recursive: true, force: true });
});
