// Goal: operators hear of hot and large partition keys. Method: the built program with limits of kilobytes, and its commands.
import { CosmosClient } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { ChildServer, runProgram } from './child-server.ts';

test('a key at 80 percent of its limit: one line in the log, the listing and the metrics', async () => {
  const limits = ['--partition-storage-limit', '1m', '--logical-partition-limit', '20k'];
  await using server = await ChildServer.start(['--memory', '--log', 'json', ...limits]);
  const { endpoint } = server;
  const client = new CosmosClient({ endpoint, key: server.ready.key });
  const { database } = await client.databases.create({ id: 'd' });
  const spec = { id: 'c', partitionKey: '/pk', throughput: 1000 };
  const { container } = await database.containers.create(spec);
  const text = 'x'.repeat(900);
  for (let n = 0; n < 17; n++) await container.items.create({ id: `i${n}`, pk: 'large', text });
  for (let n = 0; n < 5; n++) await container.items.create({ id: `i${n}`, pk: `k${n}`, text });

  const metrics = async (): Promise<string> => (await fetch(`${endpoint}_mesocosm/metrics`)).text();
  while (!(await metrics()).includes('mesocosm_partition_key_warnings_total 1'));
  expect(await metrics()).toMatch(/mesocosm_partition_largest_key_bytes\{.*\} \d{5}\n/);
  expect(await metrics()).toMatch(/mesocosm_partition_hottest_key_percent\{.*\} \d/);
  const listing = await runProgram(['partitions', 'd/c', '--endpoint', endpoint]);
  expect(listing.stdout).toMatch(/\nhot key +partition +RU +% of its partition\n"large" +0 +\d+/);
  expect(listing.stdout).toMatch(
    /\nlarge key +partition +bytes +% of its limit\n"large" +0 +1\d\.\d KiB/,
  );

  const { stdout, stderr } = await server.stop();
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('NearLimit'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    level: 'info',
    event: 'partitionKeyNearLimit',
    partition: '0',
    bytesMax: 20 * 1024,
  });
  expect(lines[0]).not.toContain('large');
  client.dispose();
});
