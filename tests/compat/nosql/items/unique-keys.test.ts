// Goal: unique keys through the stock client: alone, in batches and patches, over a split. Method: the stock SDK.
import type { Container, ErrorResponse } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  ({ container } = await database.containers.create({
    id: 'c',
    throughput: 1000,
    partitionKey: '/pk',
    uniqueKeyPolicy: {
      uniqueKeys: [{ paths: ['/email'] }, { paths: ['/name/first', '/name/last'] }],
    },
  }));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const user = (id: string, email: string, pk = 'p') => ({
  id,
  pk,
  email,
  name: { first: id, last: 'x' },
});

const failure = (promise: Promise<unknown>): Promise<ErrorResponse> =>
  promise.then(
    () => expect.fail('was not refused'),
    (error: ErrorResponse) => error,
  );

test('a second item with the same values is a conflict, in every way of writing', async () => {
  await container.items.create(user('1', 'a@x'));
  const refused = await failure(container.items.create(user('2', 'a@x')));
  expect(refused.code).toBe(409);
  expect(refused.message).toContain('Unique index constraint violation.');
  await container.items.create(user('1', 'a@x', 'other key'));
  await container.items.create(user('2', 'b@x'));
  expect((await failure(container.items.upsert(user('2', 'a@x')))).code).toBe(409);
  expect((await failure(container.item('2', 'p').replace(user('2', 'a@x')))).code).toBe(409);
  const patch = container.item('2', 'p').patch([{ op: 'set', path: '/email', value: 'a@x' }]);
  expect((await failure(patch)).code).toBe(409);
  const name = { ...user('3', 'c@x'), name: { first: '1', last: 'x' } };
  expect((await failure(container.items.create(name))).code).toBe(409);
  expect((await container.item('2', 'p').read()).resource.email).toBe('b@x');
});

test('a batch is refused as a whole', async () => {
  const create = (id: string, email: string) =>
    ({ operationType: 'Create', resourceBody: user(id, email) }) as const;
  const { result } = await container.items.batch([create('10', 'n@x'), create('11', 'n@x')], 'p');
  expect(result?.map(({ statusCode }) => statusCode)).toEqual([424, 409]);
  expect((await container.item('10', 'p').read()).statusCode).toBe(404);
});

test('constraints hold after a split, and cannot be changed', async () => {
  for (let at = 0; at < 20; at++) await container.items.create(user(`s${at}`, `s${at}`, `k${at}`));
  const database = account.service.databases.find('db');
  const record = database && account.service.containers.find(database, 'c');
  if (record === undefined) throw new Error('no container');
  await account.service.resizer.split(record, '0');
  for (let at = 0; at < 20; at++)
    expect((await failure(container.items.create(user('again', `s${at}`, `k${at}`)))).code).toBe(
      409,
    );
  const { resource } = await container.read();
  const changed = { ...resource, uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/other'] }] } };
  expect((await failure(container.replace(changed as never))).code).toBe(400);
});
