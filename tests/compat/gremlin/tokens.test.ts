// Goal: a resource token opens the graph that it is for, as far as its mode says, and nothing else. Method: permissions
// made over the NoSQL API, their tokens as passwords of the stock client.
import { PermissionMode } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, GRAPH_PATH, MIMES, startAccount } from './harness.ts';

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  await account.container.items.create({ id: 'a', pk: 'a', label: 't' });
  await account.container.database.containers.create({
    id: 'other',
    partitionKey: { paths: ['/pk'], version: 2 },
  });
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Grant {
  readonly mode: PermissionMode;
  readonly resource: string;
  readonly resourcePartitionKey?: string[];
}

/** The token of a new user with this permission alone. */
async function tokenOf(name: string, { mode, ...grant }: Grant): Promise<string> {
  const { user } = await account.container.database.users.create({ id: name });
  const { resource } = await user.permissions.create({
    id: 'p',
    permissionMode: mode,
    ...grant,
  } as Parameters<typeof user.permissions.create>[0]);
  return (resource as unknown as { readonly _token: string })._token;
}

/** Results, or the codes of the refusal. */
async function outcome(password: string, script: string, user = GRAPH_PATH): Promise<unknown> {
  const client = account.client({ mimeType: MIMES.graphson2 }, { user, password });
  return client.submit(script).then(
    (result) => result.toArray(),
    (error: { statusCode: number; statusAttributes?: Record<string, unknown> }) =>
      `${error.statusCode} ${error.statusAttributes?.['x-ms-status-code']}`,
  );
}

const ADD = "g.addV('t').property('id','b').property('pk','b').id()";

test('a token of the container for all reads and writes its graph, and no other', async () => {
  const token = await tokenOf('all', {
    mode: PermissionMode.All,
    resource: account.container.url,
  });
  expect(await outcome(token, 'g.V().id()')).toEqual(['a']);
  expect(await outcome(token, ADD)).toEqual(['b']);
  expect(await outcome(token, "g.V('b').drop()")).toEqual([]);
  expect(await outcome(token, 'g.V().id()', '/dbs/graphs/colls/other')).toBe('500 403');
});

test('a token of the container for reading does not write', async () => {
  const token = await tokenOf('reader', {
    mode: PermissionMode.Read,
    resource: account.container.url,
  });
  expect(await outcome(token, 'g.V().id()')).toEqual(['a']);
  expect(await outcome(token, ADD)).toBe('500 403');
  expect(await outcome(token, 'g.V().id()')).toEqual(['a']);
});

test('a token of one item, of one key or of another kind is refused at the login', async () => {
  const item = await tokenOf('item', {
    mode: PermissionMode.All,
    resource: `${account.container.url}/docs/a`,
    resourcePartitionKey: ['a'],
  });
  const key = await tokenOf('key', {
    mode: PermissionMode.All,
    resource: account.container.url,
    resourcePartitionKey: ['a'],
  });
  const damaged = `${key.slice(0, -4)}AAA;`;
  for (const token of [item, key, damaged])
    expect(await outcome(token, 'g.V().id()')).toBe('401 401');
});
