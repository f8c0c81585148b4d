// Goal: splits under 16 drivers' clients that insert, update and read a sharded collection lose and fail nothing.
// Method: a fixed number of steps per client; partitions are split as steps are done; at the end every document is counted.
import type { Collection, MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

const CLIENTS = 16;
const STEPS = 24;
/** A split begins after each of these numbers of steps, of 384. */
const SPLITS_AT = [60, 140, 220, 300];
const SHARED = 10;

interface Row {
  _id: string;
  k: string;
  n: number;
}

test(`${SPLITS_AT.length} splits under ${CLIENTS} clients`, async () => {
  const account = await startAccount({ engine: 'sqlite' });
  try {
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => account.connect({ maxPoolSize: 2 })),
    );
    const first = clients[0] as MongoClient;
    await first.db('admin').command({ shardCollection: 's.rows', key: { k: 'hashed' } });
    const rows = first.db('s').collection<Row>('rows');
    await rows.insertMany(
      Array.from({ length: SHARED }, (_, at) => ({ _id: `shared-${at}`, k: `s${at}`, n: 0 })),
    );
    let done = 0;
    let splits = Promise.resolve();
    const onStep = (): void => {
      done += 1;
      if (SPLITS_AT.includes(done)) splits = splits.then(() => split(account));
    };
    await Promise.all(
      clients.map((client, number) =>
        work(client.db('s').collection<Row>('rows'), `c${number}`, onStep),
      ),
    );
    await splits;
    await checkEnd(account, rows);
    expect(account.failures).toEqual([]);
  } finally {
    await account.close();
  }
});

/** Every step inserts a document, changes it and a shared one, and reads both ways what it wrote. */
async function work(rows: Collection<Row>, name: string, onStep: () => void): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    const _id = `${name}-${step}`;
    const k = `${name}-${step % 7}`;
    await rows.insertOne({ _id, k, n: step });
    expect(await rows.updateOne({ _id, k }, { $inc: { n: 1000 } })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });
    const at = step % SHARED;
    const shared = await rows.updateOne({ _id: `shared-${at}`, k: `s${at}` }, { $inc: { n: 1 } });
    expect(shared.modifiedCount).toBe(1);
    // By the shard key, and over all partitions.
    const filter = step % 2 === 0 ? { _id, k } : { _id };
    expect(await rows.findOne(filter)).toEqual({ _id, k, n: step + 1000 });
    onStep();
  }
}

/** Splits the first partition; the children take other places, so that in time several are split. */
async function split(account: Account): Promise<void> {
  const container = containerOf(account);
  const { id } = container.partitions[0] as { readonly id: string };
  await account.service.resizer.split(container, id);
}

function containerOf({ service }: Account) {
  const database = service.databases.find('s');
  const found = database && service.containers.find(database, 'rows');
  if (found === undefined) throw new Error('no such collection');
  return found;
}

async function checkEnd(account: Account, rows: Collection<Row>): Promise<void> {
  expect(containerOf(account).partitions.length).toBe(SPLITS_AT.length + 1);
  const expected = Array.from({ length: CLIENTS }, (_, client) =>
    Array.from({ length: STEPS }, (_none, step) => ({
      _id: `c${client}-${step}`,
      k: `c${client}-${step % 7}`,
      n: step + 1000,
    })),
  ).flat();
  const shared = Array.from({ length: SHARED }, (_, at) => ({
    _id: `shared-${at}`,
    k: `s${at}`,
    n:
      CLIENTS *
      Array.from({ length: STEPS }, (_none, step) => step).filter((s) => s % SHARED === at).length,
  }));
  const byId = (a: Row, b: Row): number => (a._id < b._id ? -1 : 1);
  const found = await rows.find().batchSize(50).toArray();
  expect(found.sort(byId)).toEqual([...expected, ...shared].sort(byId));
  expect(await rows.countDocuments({ n: { $gte: 1000 } })).toBe(CLIENTS * STEPS);
}
