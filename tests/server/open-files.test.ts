// Goal: a server that may open few files serves more containers than it could keep open. Method: a child under
// `ulimit -n`, an item in each of many containers, all read again twice; 10,000 of them with MESOCOSM_LONG=1.
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { ChildServer, temporaryFolder } from './child-server.ts';

const CONTAINERS = process.env.MESOCOSM_LONG === undefined ? 150 : 10_000;
const WRITERS = 8;
/** More at once only wait for each other. */
const READERS = 150;

test(`with 300 open files ${CONTAINERS} containers are written and read in turn`, async () => {
  await using server = await ChildServer.start(
    ['--data', join(temporaryFolder(), 'data')],
    {},
    300,
  );
  const client = new CosmosClient({ endpoint: server.endpoint, key: server.ready.key });
  const { database } = await client.databases.create({ id: 'many' });
  const names = Array.from({ length: CONTAINERS }, (_, at) => `c${at}`);
  await inGroups(names, WRITERS, async (id) => {
    const { container } = await database.containers.create({ id, partitionKey: '/id' });
    await container.items.create({ id: 'x', name: id });
  });
  for (let round = 0; round < 2; round++)
    await inGroups(names, READERS, async (id) => {
      const { resource } = await database.container(id).item('x', 'x').read();
      expect(resource?.name).toBe(id);
    });
  const { stderr, code } = await server.stop();
  expect(stderr).toContain('openFilesLimitLow limit=300 openPartitionsMax=21');
  expect(stderr).not.toContain('Failed');
  expect(code).toBe(0);
}, 7_200_000);

/** Does it for all names, some at once. */
async function inGroups(
  names: readonly string[],
  size: number,
  work: (name: string) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < names.length; from += size)
    await Promise.all(names.slice(from, from + size).map(work));
}
