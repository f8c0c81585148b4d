// Goal: the main round trips of an unmodified client, on every engine. Method: the stock SDK against the handler.
import type { CosmosClient } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, type EngineName, startAccount } from './harness.ts';

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
});
