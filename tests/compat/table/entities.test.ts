// Goal: tables and entities are created, read, changed and deleted by the stock client in both of its modes. Method: exact results.
import { type Edm, odata } from '@azure/data-tables';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, MODES, startAccount } from './harness.ts';

let account: Account;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of list) found.push(entry);
  return found;
}

describe.each(MODES)('%s mode', (mode) => {
  test('tables are made, listed and deleted', async () => {
    const tables = account.tables(mode);
    const name = `made${mode}`;
    await tables.createTable(name);
    await expect(account.table(mode, name).createTable()).resolves.toBeUndefined();
    expect((await all(tables.listTables())).map((table) => table.name)).toContain(name);
    const filter = odata`TableName eq ${name}`;
    expect(await all(tables.listTables({ queryOptions: { filter } }))).toEqual([{ name }]);
    await tables.deleteTable(name);
    expect(await all(tables.listTables({ queryOptions: { filter } }))).toEqual([]);
  });

  test('every type comes back as it was sent', async () => {
    const table = account.table(mode, `types${mode}`);
    await table.createTable();
    const entity = {
      partitionKey: "O'Brien, (x)",
      rowKey: ',bar',
      text: 'ü "quoted"',
      yes: true,
      int: 5,
      fraction: 1.5,
      long: 9007199254740993n,
      whole: { type: 'Double', value: 5 } as Edm<'Double'>,
      when: { type: 'DateTime', value: '2020-01-31T00:00:00.1234567Z' } as Edm<'DateTime'>,
      guid: { type: 'Guid', value: '73FFD264-44b3-4c69-90e8-e7d1dfc035d4' } as Edm<'Guid'>,
      bytes: new Uint8Array([1, 2, 255]),
      nothing: null,
    };
    const { etag } = await table.createEntity(entity);
    const found = await table.getEntity(entity.partitionKey, entity.rowKey, {
      disableTypeConversion: true,
    });
    expect(found.etag).toBe(etag);
    expect(found.text).toEqual({ type: 'String', value: 'ü "quoted"' });
    expect(found.int).toEqual({ type: 'Int32', value: '5' });
    expect(found.fraction).toEqual({ type: 'Double', value: '1.5' });
    expect(found.long).toEqual({ type: 'Int64', value: '9007199254740993' });
    expect(found.whole).toEqual({ type: 'Double', value: 5 });
    expect(found.when).toEqual({ type: 'DateTime', value: '2020-01-31T00:00:00.1234567Z' });
    expect(found.guid).toEqual({ type: 'Guid', value: '73FFD264-44b3-4c69-90e8-e7d1dfc035d4' });
    expect(found.bytes).toEqual({ type: 'Binary', value: 'AQL/' });
    expect(found).not.toHaveProperty('nothing');
  });

  test('an entity is merged, replaced and deleted under its etag', async () => {
    const table = account.table(mode, `life${mode}`);
    await table.createTable();
    const key = { partitionKey: 'p', rowKey: 'r' };
    const made = await table.createEntity({ ...key, a: 1, b: 'x' });
    await expect(table.createEntity({ ...key, a: 2 })).rejects.toMatchObject({ statusCode: 409 });
    const merged = await table.updateEntity({ ...key, a: 2, c: 3n }, 'Merge', {
      etag: made.etag as string,
    });
    expect(merged.etag).not.toBe(made.etag);
    expect(await table.getEntity('p', 'r')).toMatchObject({ a: 2, b: 'x', c: 3n });
    await expect(
      table.updateEntity({ ...key, a: 3 }, 'Replace', { etag: made.etag as string }),
    ).rejects.toMatchObject({ statusCode: 412 });
    await table.upsertEntity({ ...key, d: 'only' }, 'Replace');
    const replaced = await table.getEntity('p', 'r');
    expect(replaced).toMatchObject({ d: 'only' });
    expect(replaced).not.toHaveProperty('a');
    await table.upsertEntity({ partitionKey: 'p', rowKey: 'new', e: 1 }, 'Merge');
    expect(await table.getEntity('p', 'new')).toMatchObject({ e: 1 });
    await table.deleteEntity('p', 'r', { etag: replaced.etag });
    await expect(table.getEntity('p', 'r')).rejects.toMatchObject({
      statusCode: 404,
      details: { odataError: { code: 'ResourceNotFound' } },
    });
    await expect(table.updateEntity({ ...key, a: 3 }, 'Merge')).rejects.toMatchObject({
      statusCode: 404,
    });
  });
});
