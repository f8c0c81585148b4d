// Goal: an item with very many list entries does not end the process, whatever is done to it, now or at the next start.
// Method: one item of distinct entries and one of a repeated entry through every kind of write, a split, kill -9 and a restart,
// with a reader of another item beside them.
import { type Container, CosmosClient } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { ChildServer, runProgram } from '../server/child-server.ts';
import { newStorage, TIMEOUT_MS } from './storage.ts';

const WIDE_ITEMS = [
  { id: 'distinct', pk: 'a', list: Array.from({ length: 150_000 }, (_, at) => at) },
  { id: 'repeated', pk: 'b', list: Array.from({ length: 200_000 }, () => 7) },
] as const;
const BYSTANDER = { id: 'bystander', pk: 'c' };

test('items with 150,000 distinct and 200,000 repeated list entries do not end the process', {
  timeout: TIMEOUT_MS,
}, async () => {
  const storage = newStorage();
  {
    await using server = await ChildServer.start(storage);
    const { database } = await clientOf(server).databases.create({ id: 'db' });
    const partitionKey = { paths: ['/pk'], version: 2 };
    const wanted = { id: 'wide', partitionKey, throughput: 1000 };
    const { container } = await database.containers.create(wanted);
    await container.items.create(BYSTANDER);
    await besideReads(container, () => write(container));
    const env = { MESOCOSM_ENDPOINT: server.endpoint };
    const split = besideReads(container, () => runProgram(['split', 'db/wide', '0'], { env }));
    expect((await split).stdout).toBe('split 0 of db/wide into 1 and 2\n');
    await expectWhole(container);
    expect(await server.stop('SIGKILL')).toMatchObject({ code: null, signal: 'SIGKILL' });
  }
  await using server = await ChildServer.start(storage);
  const container = clientOf(server).database('db').container('wide');
  await expectWhole(container);
  await besideReads(container, async () => {
    for (const { id, pk } of WIDE_ITEMS)
      expect((await container.item(id, pk).delete()).statusCode).toBe(204);
  });
  expect(await idsWith(container, 7)).toEqual([]);
  const { resources } = await container.items.query('SELECT VALUE c.id FROM c').fetchAll();
  expect(resources).toEqual([BYSTANDER.id]);
  expect(await server.stop()).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('Failed'),
  });
});

function clientOf({ endpoint, ready }: ChildServer): CosmosClient {
  return new CosmosClient({ endpoint, key: ready.key });
}

/** Creates each item, and replaces it by itself, by a small one, and back. */
async function write(container: Container): Promise<void> {
  for (const item of WIDE_ITEMS) expect((await container.items.create(item)).statusCode).toBe(201);
  for (const wide of WIDE_ITEMS)
    for (const next of [wide, { ...wide, list: [-1] }, wide]) {
      const { statusCode } = await container.item(wide.id, wide.pk).replace(next);
      expect(statusCode).toBe(200);
      expect(await idsWith(container, -1)).toEqual(next === wide ? [] : [wide.id]);
    }
}

/** Both items are there with all entries, and are found by the index. */
async function expectWhole(container: Container): Promise<void> {
  for (const wide of WIDE_ITEMS) {
    const { resource } = await container.item(wide.id, wide.pk).read();
    expect(resource).toMatchObject({ id: wide.id, pk: wide.pk });
    // Compared as text: an assertion over so many entries takes long to fail.
    expect(JSON.stringify(resource?.list) === JSON.stringify(wide.list)).toBe(true);
  }
  expect((await idsWith(container, 7)).toSorted()).toEqual(['distinct', 'repeated']);
  expect(await idsWith(container, 149_999)).toEqual(['distinct']);
}

async function idsWith(container: Container, value: number): Promise<readonly string[]> {
  const query = 'SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.list, @value)';
  const parameters = [{ name: '@value', value }];
  return (await container.items.query<string>({ query, parameters }).fetchAll()).resources;
}

/** Reads the bystander again and again while the work goes on: every read is answered. */
async function besideReads<T>(container: Container, work: () => Promise<T>): Promise<T> {
  let isDone = false;
  const reading = (async () => {
    do {
      const { statusCode } = await container.item(BYSTANDER.id, BYSTANDER.pk).read();
      expect(statusCode).toBe(200);
    } while (!isDone);
  })();
  const stop = () => {
    isDone = true;
  };
  const [result] = await Promise.all([work().finally(stop), reading]);
  return result;
}
