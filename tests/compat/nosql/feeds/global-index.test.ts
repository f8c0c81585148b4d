// Goal: a global secondary index follows its source, by another key, over updates, deletions, splits and a restart, and
// clients cannot write to it. Method: the stock client on an account of its own; the index is waited for by its lag.
import { rmSync } from 'node:fs';
import type { Container, ContainerRequest } from '@azure/cosmos';
import { afterEach, expect, test } from 'vitest';
import { type Account, type AccountOptions, makeDirectory, startAccount } from '../harness.ts';

let account: Account;

afterEach(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function open(options: AccountOptions = {}): Promise<Container> {
  account = await startAccount(options);
  const { database } = await account.client().databases.createIfNotExists({ id: 'd' });
  const spec = { id: 'customers', partitionKey: '/customerId', throughput: 1000 };
  return (await database.containers.createIfNotExists(spec)).container;
}

async function makeIndex(more: Record<string, unknown> = {}): Promise<Container> {
  const { container } = await account
    .client()
    .database('d')
    .containers.create({
      id: 'by-email',
      partitionKey: '/email',
      materializedViewDefinition: {
        sourceCollectionId: 'customers',
        definition: 'SELECT c.id, c.customerId, c.email FROM c',
      },
      ...more,
    } as ContainerRequest);
  return container;
}

/** Until everything written so far is in the index. */
async function indexed(): Promise<void> {
  for (;;) {
    const [report] = account.service.globalIndexes.reports();
    if (report?.lag === 0 && report.appliedCount >= 0) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function rows(index: Container): Promise<string[]> {
  const query = 'SELECT VALUE CONCAT(c._id, " ", c.customerId, " ", c.email) FROM c';
  return (await index.items.query<string>(query).fetchAll()).resources.sort();
}

test('rows follow creations, changes of the key and deletions; clients cannot write them', async () => {
  const source = await open();
  for (const n of [1, 2, 3])
    await source.items.create({ id: `c${n}`, customerId: `${n}`, email: `e${n}@x`, secret: 's' });
  const index = await makeIndex();
  await indexed();
  expect(await rows(index)).toEqual(['c1 1 e1@x', 'c2 2 e2@x', 'c3 3 e3@x']);
  await source.items.upsert({ id: 'c1', customerId: '1', email: 'new@x' });
  await source.item('c2', '2').delete();
  await source.items.create({ id: 'c4', customerId: '4' });
  await indexed();
  expect(await rows(index)).toEqual(['c1 1 new@x', 'c3 3 e3@x']);
  const ofKey = await index.items
    .query('SELECT * FROM c WHERE c.email = "new@x"', { partitionKey: 'new@x' })
    .fetchAll();
  expect(ofKey.resources).toMatchObject([{ _id: 'c1', customerId: '1', email: 'new@x' }]);
  expect(ofKey.resources[0]).not.toHaveProperty('secret');
  const { resource: read } = await source.item('c1', '1').read();
  expect(ofKey.resources[0].id).toBe(read._rid);
  const [row] = ofKey.resources;
  for (const write of [
    () => index.items.create({ id: 'x', email: 'x' }),
    () => index.items.upsert({ ...row, extra: 1 }),
    () => index.item(row.id, 'new@x').replace(row),
    () => index.item(row.id, 'new@x').delete(),
    () => index.item(row.id, 'new@x').patch([{ op: 'add', path: '/x', value: 1 }]),
  ])
    await expect(write()).rejects.toMatchObject({ code: 403 });
  const batch = index.items.batch(
    [{ operationType: 'Create', resourceBody: { id: 'y', email: 'z' } }],
    'z',
  );
  await expect(batch).rejects.toThrow('global secondary index');
  expect(await rows(index)).toHaveLength(2);
});

test('the definition of an index is returned, checked and stored', async () => {
  const source = await open();
  const index = await makeIndex();
  const { resource } = await index.read();
  const { resource: parent } = await source.read();
  expect(resource).toMatchObject({
    materializedViewDefinition: {
      sourceCollectionId: 'customers',
      sourceCollectionRid: parent?._rid,
      definition: 'SELECT c.id, c.customerId, c.email FROM c',
    },
  });
  const refused = async (definition: object, more = {}) => {
    const making = makeIndex({ id: 'other', materializedViewDefinition: definition, ...more });
    return making.then(
      () => 'made',
      (error) => error.code,
    );
  };
  const of = (definition: string) => ({ sourceCollectionId: 'customers', definition });
  expect(await refused({ sourceCollectionId: 'nobody', definition: 'SELECT * FROM c' })).toBe(400);
  expect(await refused({ sourceCollectionId: 'by-email', definition: 'SELECT * FROM c' })).toBe(
    400,
  );
  for (const text of [
    'SELECT',
    'SELECT VALUE c.id FROM c',
    'SELECT * FROM c WHERE c.a = 1',
    'SELECT TOP 1 * FROM c',
    'SELECT c.a FROM c ORDER BY c.a',
    'SELECT COUNT(1) FROM c',
    'SELECT t.a FROM c JOIN t IN c.tags',
  ])
    expect(await refused(of(text)), text).toBe(400);
  const changed = { ...resource, materializedViewDefinition: of('SELECT * FROM c') } as never;
  await expect(index.replace(changed)).rejects.toMatchObject({ code: 400 });
  await expect(source.delete()).rejects.toMatchObject({ code: 403 });
  await index.delete();
  await source.delete();
});

test('goes on over splits of the source and of itself, and after a restart', async () => {
  const directory = makeDirectory();
  let source = await open({ engine: 'sqlite', directory });
  const write = async (from: number, to: number) => {
    for (let n = from; n < to; n++)
      await source.items.upsert({ id: `c${n}`, customerId: `${n % 17}`, email: `e${n % 5}@x`, n });
  };
  await write(0, 40);
  const index = await makeIndex({ throughput: 1000 });
  const { resizer, containers, databases } = account.service;
  const record = (id: string) => containers.find(databases.find('d') as never, id) as never;
  await resizer.split(record('customers'), '0');
  await write(40, 60);
  await indexed();
  await resizer.split(record('by-email'), '0');
  for (let n = 0; n < 10; n++) await source.item(`c${n}`, `${n % 17}`).delete();
  await resizer.merge(record('customers'), ['1', '2']);
  await indexed();
  const expected = (numbers: readonly number[]) =>
    numbers.map((n) => `c${n} ${n % 17} e${n % 5}@x`).sort();
  const kept = Array.from({ length: 50 }, (_, n) => n + 10);
  expect(await rows(index)).toEqual(expected(kept));
  await account.close();

  source = await open({ engine: 'sqlite', directory });
  await indexed();
  expect(account.service.globalIndexes.reports()[0]?.appliedCount).toBe(0);
  await source.item('c10', '10').delete();
  await source.items.create({ id: 'c99', customerId: `${99 % 17}`, email: `e${99 % 5}@x` });
  await indexed();
  const again = account.client().database('d').container('by-email');
  expect(await rows(again)).toEqual(expected([...kept.slice(1), 99]));
  rmSync(directory, { recursive: true, force: true });
});
