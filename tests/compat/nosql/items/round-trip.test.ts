// Goal: the main round trips of an unmodified client, on every engine. Method: the stock SDK against the handler.
import { rmSync } from 'node:fs';
import { type CosmosClient, type PartitionKey, PartitionKeyKind } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type EngineName, makeDirectory, startAccount } from '../harness.ts';

describe.each<EngineName>(['memory', 'sqlite'])('on the %s engine', (engine) => {
  let account: Account;
  let client: CosmosClient;

  beforeAll(async () => {
    account = await startAccount({ engine });
    client = account.client();
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  it('reads the account', async () => {
    const { resource } = await client.getDatabaseAccount();
    expect(resource?.consistencyPolicy).toBe('Session');
  });

  it('creates, reads, replaces, upserts, lists and deletes items', async () => {
    const { database } = await client.databases.createIfNotExists({ id: 'shop' });
    const { container } = await database.containers.createIfNotExists({
      id: 'orders',
      partitionKey: '/customer',
    });
    const created = await container.items.create({ id: 'o1', customer: 'ada', total: 3 });
    expect(created.statusCode).toBe(201);
    const item = container.item('o1', 'ada');
    const read = await item.read();
    expect(read.statusCode).toBe(200);
    expect(read.resource).toEqual(created.resource);
    const replaced = await item.replace({ id: 'o1', customer: 'ada', total: 4 });
    expect(replaced.statusCode).toBe(200);
    expect(replaced.resource).toMatchObject({ id: 'o1', total: 4, _rid: created.resource?._rid });
    const upserted = await container.items.upsert({ id: 'o2', customer: 'bob', total: 1 });
    expect(upserted.statusCode).toBe(201);
    const again = await container.items.upsert({ id: 'o2', customer: 'bob', total: 2 });
    expect(again.statusCode).toBe(200);
    const { resources } = await container.items.readAll().fetchAll();
    expect(resources.map(({ id, total }) => [id, total])).toEqual([
      ['o1', 4],
      ['o2', 2],
    ]);
    expect((await item.delete()).statusCode).toBe(204);
    expect((await item.read()).statusCode).toBe(404);
    await database.delete();
    await expect(database.read()).rejects.toMatchObject({ code: 404 });
  });

  it('keeps every kind of key apart over three partitions, and lists them in pages', async () => {
    const { database } = await client.databases.create({ id: 'keys' });
    const { container } = await database.containers.create({
      id: 'c',
      partitionKey: { paths: ['/pk'], version: 2 },
      throughput: 25_000,
    });
    const keys = [undefined, null, true, false, 0, -1.5, '', 'x', '鱀', 'k'.repeat(500)];
    for (const pk of keys) await container.items.create({ id: 'same', pk });
    for (const pk of keys)
      expect((await container.item('same', pk as PartitionKey).read()).resource?.pk).toBe(pk);
    expect((await container.readPartitionKeyRanges().fetchAll()).resources).toHaveLength(3);
    const feed = container.items.readAll({ maxItemCount: 2 });
    const seen: unknown[] = [];
    while (feed.hasMoreResults())
      seen.push(...((await feed.fetchNext()).resources ?? []).map(({ pk }) => String(pk)));
    expect(seen.sort()).toEqual(keys.map(String).sort());
    await database.delete();
  });

  it('finds everything below the first levels of a hierarchical key', async () => {
    const { database } = await client.databases.create({ id: 'levels' });
    const { container } = await database.containers.create({
      id: 'c',
      partitionKey: {
        paths: ['/tenant', '/user', '/session'],
        kind: PartitionKeyKind.MultiHash,
        version: 2,
      },
    });
    for (const tenant of ['a', 'b'])
      for (const user of ['u', 'v'])
        for (const session of [1, 2])
          await container.items.create({ id: `${tenant}${user}${session}`, tenant, user, session });
    const ids = async (partitionKey: PartitionKey) => {
      const { resources } = await container.items.readAll({ partitionKey }).fetchAll();
      return resources.map(({ id }) => id).sort();
    };
    expect(await ids(['a'])).toEqual(['au1', 'au2', 'av1', 'av2']);
    expect(await ids(['b', 'v'])).toEqual(['bv1', 'bv2']);
    expect(await ids(['b', 'v', 1])).toEqual(['bv1']);
    await database.delete();
  });

  it('takes 1.9 MB and refuses 2.2 MB, guards by etag, and knows its containers again', async () => {
    const { database } = await client.databases.create({ id: 'limits' });
    const { container } = await database.containers.create({ id: 'c', partitionKey: '/pk' });
    const item = (bytes: number) => ({ id: 'ü'.repeat(255), pk: 'p', text: 'x'.repeat(bytes) });
    const { resource } = await container.items.create(item(1_900_000));
    await expect(container.items.upsert(item(2_200_000))).rejects.toMatchObject({ code: 413 });
    const large = container.item('ü'.repeat(255), 'p');
    expect((await large.read()).resource).toEqual(resource);
    const wrong = { accessCondition: { type: 'IfMatch', condition: '"x"' } };
    await expect(large.replace(item(1), wrong)).rejects.toMatchObject({ code: 412 });
    const byRid = client.database(resource?._self.split('/')[1] as string);
    expect((await byRid.read()).resource?.id).toBe('limits');
    await database.delete();
  });
});

it('everything is there again after a restart, byte for byte', async () => {
  const directory = makeDirectory();
  try {
    const before = await startAccount({ engine: 'sqlite', directory });
    const { database } = await before.client().databases.create({ id: 'db', throughput: 1000 });
    const { container } = await database.containers.create({ id: 'c', partitionKey: '/pk' });
    const definition = (await container.read()).resource;
    const item = (await container.items.create({ id: 'a', pk: 'p', v: [1, 'ü', null] })).resource;
    await container.items.create({ id: 'b', pk: 'p' });
    await container.item('b', 'p').delete();
    await before.close();
    const after = await startAccount({ engine: 'sqlite', directory });
    const again = after.client().database('db').container('c');
    expect((await again.read()).resource).toEqual(definition);
    const read = await again.item('a', 'p').read();
    expect(JSON.stringify(read.resource)).toBe(JSON.stringify(item));
    expect(read.headers['x-ms-session-token']).toBe('0:-1#3');
    expect((await again.item('b', 'p').read()).statusCode).toBe(404);
    const created = await again.items.create({ id: 'c', pk: 'p' });
    expect(created.resource?._rid).not.toBe(item?._rid);
    await after.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
