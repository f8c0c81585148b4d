/** Data for access tests: items that are marked with their location, and callers that may see a part of them. */
import { createHmac } from 'node:crypto';
import { PermissionMode } from '@azure/cosmos';
import { type Account, PRIMARY_KEY, READONLY_KEY, startAccount } from '../harness.ts';
import { type RawRequest, sendRaw, sign } from '../raw-request.ts';

const DATABASES = ['shop', 'bank'];
const CONTAINERS = ['orders', 'others'];
export const KEYS = ['ada', 'bob', 'cyd'];
export const IDS = ['1', '2', '3'];

/** One item, as its mark names it. */
export interface ItemAddress {
  readonly database: string;
  readonly container: string;
  readonly key: string;
  readonly id: string;
}

export interface Caller {
  readonly name: string;
  authorization(raw: RawRequest & { method: string; date: string }): string;
  mayRead(item: ItemAddress): boolean;
  mayWrite(item: ItemAddress): boolean;
  /** May see lists of databases and containers, offers and the like. */
  readonly isReader: boolean;
  /** May do everything with the container shop/orders. */
  readonly isOwner: boolean;
}

/** Names and resource ids that lead to the same things. */
export const databaseIds = new Map<string, string>();
export const containerIds = new Map<string, string>();
export const itemIds = new Map<string, string>();

/** Returns every item of its partition key. */
const READ_ALL = `function () {
  __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', function (error, items) {
    __.response.setBody(items);
  });
}`;

/** An account with marked items in every container, and callers of every kind. */
export async function startWorld(): Promise<{ account: Account; callers: readonly Caller[] }> {
  const account = await startAccount();
  const client = account.client();
  for (const name of DATABASES) {
    const { database, resource } = await client.databases.create({ id: name });
    databaseIds.set(name, resource?._rid ?? '');
    for (const id of CONTAINERS) {
      const { container, resource: made } = await database.containers.create({
        id,
        partitionKey: { paths: ['/key'] },
        throughput: 20_000,
        changeFeedPolicy: { retentionDuration: 60 },
      } as never);
      await container.scripts.storedProcedures.create({ id: 'all', body: READ_ALL });
      containerIds.set(`${name}/${id}`, made?._rid ?? '');
      await fill(name, id, async (item) => {
        const { resource: written } = await container.items.create(item);
        itemIds.set(item.mark, written?._rid ?? '');
      });
    }
  }
  return { account, callers: await makeCallers(account) };
}

interface MarkedItem {
  readonly id: string;
  readonly key: string;
  readonly mark: string;
}

export async function fill(
  database: string,
  container: string,
  each: (item: MarkedItem) => Promise<void>,
): Promise<void> {
  for (const key of KEYS)
    for (const id of IDS) await each({ id, key, mark: markOf({ database, container, key, id }) });
}

export function markOf({ database, container, key, id }: ItemAddress): string {
  return `mark<${database}.${container}.${key}.${id}>`;
}

export function itemsIn(text: string): ItemAddress[] {
  return [...text.matchAll(/mark<(\w+)\.(\w+)\.(\w+)\.(\w+)>/g)].map(
    ([, database = '', container = '', key = '', id = '']) => ({ database, container, key, id }),
  );
}

async function makeCallers(account: Account): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  const inside = ({ database, container }: ItemAddress) =>
    database === 'shop' && container === 'orders';
  const ofKey = (item: ItemAddress) => inside(item) && item.key === 'ada';
  const ofItem = (item: ItemAddress) => ofKey(item) && item.id === '1';
  const link = 'dbs/shop/colls/orders';
  const self = `dbs/${databaseIds.get('shop')}/colls/${containerIds.get('shop/orders')}/`;
  const itemSelf = `${self}docs/${itemIds.get(markOf({ database: 'shop', container: 'orders', key: 'ada', id: '1' }))}/`;
  const scopes: [string, string, string[] | undefined, (item: ItemAddress) => boolean][] = [
    ['container', link, undefined, inside],
    ['container by resource id', self, undefined, inside],
    ['key', link, ['ada'], ofKey],
    ['item', `${link}/docs/1`, ['ada'], ofItem],
    ['item by resource id', itemSelf, undefined, ofItem],
  ];
  const database = account.client().database('shop');
  for (const [name, resource, resourcePartitionKey, isInside] of scopes)
    for (const permissionMode of [PermissionMode.Read, PermissionMode.All]) {
      const { user } = await database.users.create({ id: `${name} ${permissionMode}` });
      const key = resourcePartitionKey === undefined ? {} : { resourcePartitionKey };
      const { resource: permission } = await user.permissions.create({
        id: 'p',
        permissionMode,
        resource,
        ...key,
      });
      const token = encodeURIComponent((permission as unknown as { _token: string })._token);
      callers.push({
        name: `token: ${name} ${permissionMode}`,
        authorization: () => token,
        mayRead: isInside,
        mayWrite: permissionMode === PermissionMode.All ? isInside : () => false,
        isReader: false,
        isOwner: permissionMode === PermissionMode.All && isInside === inside,
      });
    }
  const sas = encodeURIComponent(sasFor('/dbs/shop/colls/orders'));
  callers.push(
    {
      name: 'sas: container, reads',
      authorization: () => sas,
      mayRead: inside,
      mayWrite: () => false,
      isReader: false,
      isOwner: false,
    },
    {
      name: 'read-only key',
      authorization: (raw) => sign({ ...raw, key: READONLY_KEY }),
      mayRead: () => true,
      mayWrite: () => false,
      isReader: true,
      isOwner: false,
    },
  );
  return callers;
}

function sasFor(path: string): string {
  const nowSec = Math.floor(Date.now() / 1000);
  const times = [(nowSec - 60).toString(16), (nowSec + 3600).toString(16)];
  const lines = ['sam', 'tag', path, '', ...times, '1', '60', '0', 'ffffffff', '0'];
  const payload = Buffer.from(`${lines.join('\n')}\n`).toString('base64');
  const signature = createHmac('sha256', Buffer.from(PRIMARY_KEY, 'base64'))
    .update(payload)
    .digest('base64');
  return `type=sas&ver=1.0&sig=${signature};${payload}`;
}

/** Everything there is, as text; items by mark. */
export async function stateOf(account: Account): Promise<Map<string, string>> {
  const { databases, containers, resources } = account.service;
  const state = new Map<string, string>();
  const keep = (name: string, value: unknown) => state.set(name, JSON.stringify(value));
  for (const database of databases.list()) {
    keep(`database ${database.id}`, database);
    const owner = { databaseRid: database.rid, containerRid: 0, userRid: 0 };
    keep(`keys of ${database.id}`, resources.list(owner, 'clientEncryptionKey'));
    for (const user of resources.list(owner, 'user')) {
      const permissions = resources.list({ ...owner, userRid: user.rid }, 'permission');
      keep(`user ${database.id} ${user.id}`, [user, permissions]);
    }
    for (const container of containers.list(database)) {
      keep(`container ${database.id} ${container.id}`, container);
      const within = { ...owner, containerRid: container.rid };
      for (const kind of ['storedProcedure', 'trigger', 'userDefinedFunction'] as const)
        keep(`${kind} ${database.id} ${container.id}`, resources.list(within, kind));
      for (const item of await itemsOf(account, database.id, container.id))
        keep(markOf({ database: database.id, container: container.id, ...item }), item._etag);
    }
  }
  return state;
}

async function itemsOf(
  account: Account,
  database: string,
  container: string,
): Promise<readonly { id: string; key: string; _etag: string }[]> {
  const path = `/dbs/${database}/colls/${container}/docs`;
  const items: { id: string; key: string; _etag: string }[] = [];
  let continuation: string | undefined;
  do {
    const reply = await sendRaw(account, {
      path,
      headers: continuation === undefined ? {} : { 'x-ms-continuation': continuation },
    });
    items.push(...reply.json.Documents);
    continuation = reply.headers['x-ms-continuation'] as string | undefined;
  } while (continuation !== undefined);
  return items;
}

/** Changes that the caller had no right to make. */
export function scopeViolations(
  caller: Caller,
  before: Map<string, string>,
  after: Map<string, string>,
): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => {
    if (before.get(name) === after.get(name)) return false;
    const [item] = itemsIn(name);
    // Scripts in a container require full rights to it.
    if (item === undefined)
      return !(caller.isOwner && /^(stored|trigger|user).* shop orders$/.test(name));
    return !caller.mayWrite(item);
  });
}
