// Goal: a server that may open few files serves more containers than it could keep open. Method: a child under
// `ulimit -n`, an item in each of many containers, all read again twice.
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { ChildServer, temporaryFolder } from './child-server.ts';

const CONTAINERS = 150;

test('with 300 open files 150 containers are written and read in turn', async () => {
  await using server = await ChildServer.start(
    ['--data', join(temporaryFolder(), 'data')],
    {},
    300,
  );
  const client = new CosmosClient({ endpoint: server.endpoint, key: server.ready.key });
  const { database } = await client.databases.create({ id: 'many' });
  const names = Array.from({ length: CONTAINERS }, (_, at) => `c${at}`);
  for (const id of names) {
    const { container } = await database.containers.create({ id, partitionKey: '/id' });
    await container.items.create({ id: 'x', name: id });
  }
  for (let round = 0; round < 2; round++) {
    const found = await Promise.all(
      names.map(async (id) => (await database.container(id).item('x', 'x').read()).resource?.name),
    );
    expect(found).toEqual(names);
  }
  const { stderr, code } = await server.stop();
  expect(stderr).toContain('openFilesLimitLow limit=300 openPartitionsMax=21');
  expect(stderr).not.toContain('Failed');
  expect(code).toBe(0);
}, 120_000);
