/** Triggers before and after writes; method: the stock client against a server in memory. */
import {
  type Container,
  type ItemDefinition,
  type RequestOptions,
  TriggerOperation,
  TriggerType,
} from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let container: Container;

const PRE = TriggerType.Pre;
const POST = TriggerType.Post;
const { All, Create, Delete, Replace } = TriggerOperation;

const TRIGGERS: readonly [string, TriggerType, TriggerOperation, string][] = [
  [
    'stamp',
    PRE,
    All,
    'function () { const r = getContext().getRequest(); const b = r.getBody(); b.by = r.getOperationType(); r.setBody(b); }',
  ],
  ['refuse', PRE, All, 'function refuse() {\n  throw new Error("refused");\n}'],
  [
    'rekey',
    PRE,
    All,
    '() => { const r = getContext().getRequest(); r.setBody({ ...r.getBody(), pk: "elsewhere" }); }',
  ],
  ['noBody', PRE, All, '() => getContext().getRequest().setBody(5)'],
  ['onCreate', PRE, Create, '() => {}'],
  ['onReplace', PRE, Replace, '() => {}'],
  ['onDelete', POST, Delete, '() => {}'],
  [
    'count',
    POST,
    All,
    `function () {
    const c = getContext().getCollection();
    const link = c.getAltLink() + '/docs/counter';
    c.readDocument(link, {}, (error, item) => {
      if (error && error.number === 404) return c.createDocument(c.getSelfLink(), { id: 'counter', pk: 'count', n: 1 });
      item.n++;
      c.replaceDocument(item._self, item, (error) => { if (error) throw error; });
    });
  }`,
  ],
  [
    'undo',
    POST,
    All,
    '() => { if (getContext().getResponse().getBody().id !== "u") throw "not yet"; throw new Error("undone"); }',
  ],
  [
    'reword',
    POST,
    All,
    '() => { const r = getContext().getResponse(); r.setBody({ ...r.getBody(), said: "more" }); }',
  ],
  ['spin', PRE, All, '() => { for (;;); }'],
];

beforeAll(async () => {
  account = await startAccount({ settings: { scriptTimeLimitMs: 1000 } });
  const { database } = await account.client().databases.create({ id: 'triggers' });
  ({ container } = await database.containers.create({ id: 'c', partitionKey: { paths: ['/pk'] } }));
  for (const [id, triggerType, triggerOperation, body] of TRIGGERS)
    await container.scripts.triggers.create({ id, triggerType, triggerOperation, body });
});
afterAll(async () => {
  await account.close();
  expect(account.failures).toEqual([]);
});

const create = (item: ItemDefinition, options: RequestOptions) =>
  container.items.create<ItemDefinition>(item, options);

test('a trigger before a write changes what is written', async () => {
  const made = await create({ id: 's', pk: 'p' }, { preTriggerInclude: ['stamp'] });
  expect(made.statusCode).toBe(201);
  expect(made.resource).toMatchObject({ id: 's', by: 'Create' });
  const read = await container.item('s', 'p').read();
  expect(read.resource).toEqual(made.resource);
  expect(made.headers.etag).toBe(read.etag);
  const again = await container
    .item('s', 'p')
    .replace({ id: 's', pk: 'p' }, { preTriggerInclude: ['stamp'] });
  expect(again.resource).toMatchObject({ by: 'Replace' });
  const upserted = await container.items.upsert(
    { id: 't', pk: 'p' },
    { preTriggerInclude: ['stamp'] },
  );
  expect(upserted.statusCode).toBe(201);
  expect(upserted.resource).toMatchObject({ by: 'Upsert' });
});

test('a trigger after a write writes in the same transaction', async () => {
  for (const id of ['1', '2', '3'])
    await create({ id, pk: 'count' }, { postTriggerInclude: ['count'] });
  await container.item('3', 'count').delete({ postTriggerInclude: ['count'] });
  expect((await container.item('counter', 'count').read()).resource).toMatchObject({ n: 4 });
  expect((await container.item('3', 'count').read()).statusCode).toBe(404);
});

test('what a trigger after a write throws undoes the write', async () => {
  const undone = create({ id: 'u', pk: 'p' }, { postTriggerInclude: ['undo'] });
  await expect(undone).rejects.toMatchObject({ code: 400 });
  await expect(undone).rejects.toThrow(/undone/);
  expect((await container.item('u', 'p').read()).statusCode).toBe(404);
});

test('a trigger after a write may change the response', async () => {
  const made = await create({ id: 'r', pk: 'p' }, { postTriggerInclude: ['reword'] });
  const read = await container.item('r', 'p').read();
  // The trigger sees the second in which it ran, the store that of the commit.
  const { _ts, ...rest } = made.resource as ItemDefinition & { _ts: number };
  const stored = read.resource as ItemDefinition & { _ts: number };
  expect({ ...rest, _ts: stored._ts }).toEqual({ ...stored, said: 'more' });
  expect([0, 1]).toContain(stored._ts - _ts);
});

test('an item that is there already is refused as ever, triggers or not', async () => {
  await create({ id: 'twice', pk: 'p' }, {});
  const again = create({ id: 'twice', pk: 'p' }, { preTriggerInclude: ['stamp'] });
  await expect(again).rejects.toMatchObject({ code: 409 });
  const options = {
    preTriggerInclude: ['stamp'],
    accessCondition: { type: 'IfMatch', condition: '"old"' },
  };
  const replaced = container.item('twice', 'p').replace({ id: 'twice', pk: 'p' }, options);
  await expect(replaced).rejects.toMatchObject({ code: 412 });
});

test.each<[string, RequestOptions, number]>([
  ['a trigger that throws', { preTriggerInclude: ['refuse'] }, 400],
  ['another partition key', { preTriggerInclude: ['rekey'] }, 400],
  ['a body that is no item', { preTriggerInclude: ['noBody'] }, 400],
  ['a trigger of another operation', { preTriggerInclude: ['onReplace'] }, 400],
  ['a trigger after another operation', { postTriggerInclude: ['onDelete'] }, 400],
  ['a trigger of another type', { postTriggerInclude: ['stamp'] }, 400],
  ['a trigger that is not there', { preTriggerInclude: ['absent'] }, 400],
  ['a trigger without end', { preTriggerInclude: ['spin'] }, 408],
])('a write is refused and nothing is written: %s', async (_, options, code) => {
  await expect(create({ id: 'x', pk: 'x' }, options)).rejects.toMatchObject({ code });
  const { resources } = await container.items
    .query('SELECT * FROM c', { partitionKey: 'x' })
    .fetchAll();
  expect(resources).toEqual([]);
});
