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

test('a token of one partition key reaches its elements and no others', async () => {
  const scripts = [
    "g.addV('t').property('id','c').property('pk','c').property('n',1)",
    "g.addV('t').property('id','d').property('pk','c').property('n',2)",
    "g.V('c').addE('k').to(V('d')).property('id','cd')",
    "g.V('c').addE('k').to(V('a')).property('id','ca')",
    "g.V('a').addE('k').to(V('d')).property('id','ad')",
  ];
  for (const script of scripts) await account.client().submit(script);
  const token = await tokenOf('key', {
    mode: PermissionMode.All,
    resource: account.container.url,
    resourcePartitionKey: ['c'],
  });
  expect(await outcome(token, 'g.V().id().order()')).toEqual(['c', 'd']);
  expect(await outcome(token, 'g.V().count()')).toEqual([2]);
  expect(await outcome(token, "g.V(['a','a'],['c','c']).id()")).toEqual(['c']);
  expect(await outcome(token, "g.V().has('pk','a').id()")).toEqual([]);
  expect(await outcome(token, "g.V('d').in().id()")).toEqual(['c']);
  expect(await outcome(token, "g.V('c').out().values('n')")).toEqual([2]);
  expect(await outcome(token, "g.V('c').property('n',3).values('n')")).toEqual([3]);
  expect(await outcome(token, ADD)).toBe('500 403');
  expect(await outcome(token, "g.V('c').addE('k').to(V(['a','a']))")).toBe('500 1000');
  // An edge from elsewhere would lead nowhere.
  expect(await outcome(token, "g.V('d').drop()")).toBe('500 403');
  expect(await outcome(token, "g.V('c').drop()")).toEqual([]);
  expect(await outcome(token, 'g.V().id()')).toEqual(['d']);
});

test('a token of one partition key for reading does not write', async () => {
  const token = await tokenOf('key-reader', {
    mode: PermissionMode.Read,
    resource: account.container.url,
    resourcePartitionKey: ['a'],
  });
  expect(await outcome(token, 'g.V().id()')).toEqual(['a']);
  expect(await outcome(token, "g.V('a').property('n',1)")).toBe('500 403');
});

test('a token of one element reads and changes it, and reaches no other', async () => {
  const scripts = [
    "g.addV('t').property('id','e').property('pk','e')",
    "g.addV('t').property('id','f').property('pk','e')",
    "g.V('e').addE('k').to(V('f')).property('id','ef')",
  ];
  for (const script of scripts) await account.client().submit(script);
  const grant = { resource: `${account.container.url}/docs/e`, resourcePartitionKey: ['e'] };
  const token = await tokenOf('item', { mode: PermissionMode.All, ...grant });
  expect(await outcome(token, 'g.V().id()')).toEqual(['e']);
  expect(await outcome(token, 'g.V().count()')).toEqual([1]);
  expect(await outcome(token, 'g.E().count()')).toEqual([0]);
  expect(await outcome(token, "g.V('e').out().id()")).toEqual([]);
  expect(await outcome(token, "g.V(['e','f']).id()")).toEqual([]);
  expect(await outcome(token, "g.V('e').property('n',3).values('n')")).toEqual([3]);
  expect(await outcome(token, "g.addV('t').property('id','g').property('pk','e')")).toBe('500 403');
  expect(await outcome(token, "g.V('e').addE('k').to(V('e'))")).toBe('500 403');
  // Its edge is another element.
  expect(await outcome(token, "g.V('e').drop()")).toBe('500 403');
  await account.client().submit("g.E('ef').drop()");
  expect(await outcome(token, "g.V('e').drop()")).toEqual([]);
  expect(await outcome(token, "g.addV('t').property('id','e').property('pk','e')")).toBe('500 403');
});

test('a token of one element for reading does not write', async () => {
  const token = await tokenOf('item-reader', {
    mode: PermissionMode.Read,
    resource: `${account.container.url}/docs/a`,
    resourcePartitionKey: ['a'],
  });
  expect(await outcome(token, 'g.V().id()')).toEqual(['a']);
  expect(await outcome(token, "g.V('a').property('n',1)")).toBe('500 403');
});

test('a damaged token is refused at the login', async () => {
  const token = await tokenOf('damaged', {
    mode: PermissionMode.All,
    resource: account.container.url,
  });
  expect(await outcome(`${token.slice(0, -4)}AAA;`, 'g.V().id()')).toBe('401 401');
});
