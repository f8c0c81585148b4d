/** Stored procedures: what they see, change and return; method: the stock client against a server in memory. */
import type { Container, FeedOptions } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let container: Container;
let count = 0;

beforeAll(async () => {
  account = await startAccount({ settings: { scriptTimeLimitMs: 2000 } });
  const { database } = await account.client().databases.create({ id: 'procedures' });
  ({ container } = await database.containers.create({ id: 'c', partitionKey: { paths: ['/pk'] } }));
});
afterAll(async () => {
  await account.close();
  expect(account.failures).toEqual([]);
});

/** The functions of these tests run in the sandbox: their text is sent. */
declare const getContext: () => ScriptContext;
declare const __: ScriptCollection;

interface ScriptContext {
  getCollection(): ScriptCollection;
  getResponse(): { setBody(body: unknown): void; getBody(): unknown };
  getRequest(): { getBody(): Document; setBody(body: unknown): void };
}
interface Document {
  id: string;
  [name: string]: unknown;
}
type Callback<T> = (
  error: { number: number; message: string } | undefined,
  result: T,
  options: { continuation?: string },
) => void;
interface ScriptCollection {
  getSelfLink(): string;
  getAltLink(): string;
  createDocument(link: string, document: object, callback?: Callback<Document>): boolean;
  replaceDocument(
    link: unknown,
    document: object,
    options: object,
    callback?: Callback<Document>,
  ): boolean;
  deleteDocument(link: unknown, options: object, callback?: Callback<void>): boolean;
  readDocument(link: string, options: object, callback: Callback<Document>): boolean;
  queryDocuments<T = Document>(
    link: string,
    query: unknown,
    options: object,
    callback: Callback<T[]>,
  ): boolean;
  filter(predicate: (document: Document) => boolean, callback: Callback<Document[]>): boolean;
  chain(): { [step: string]: (...args: unknown[]) => never };
  response: { setBody(body: unknown): void };
}

async function execute(
  body: (...args: never[]) => unknown,
  { pk = 'a', args = [], options = {} }: { pk?: string; args?: unknown[]; options?: object } = {},
) {
  const id = `p${++count}`;
  await container.scripts.storedProcedures.create({ id, body: body.toString() });
  return container.scripts.storedProcedure(id).execute(pk, args, options);
}

const rowsOf = async (pk: string) => {
  const options: FeedOptions = { partitionKey: pk };
  const query = 'SELECT VALUE c.id FROM c ORDER BY c.id';
  return (await container.items.query(query, options).fetchAll()).resources;
};

test('a procedure writes several items at once and returns what they became', async () => {
  const { resource, headers } = await execute(
    (ids: string[]) => {
      const made: Document[] = [];
      for (const id of ids)
        __.createDocument(__.getSelfLink(), { id, pk: 'w' }, (error, document) => {
          if (error) throw error;
          made.push(document);
          __.response.setBody(made);
        });
    },
    { pk: 'w', args: [['x', 'y']] },
  );
  for (const id of ['x', 'y']) {
    const { resource: stored } = await container.item(id, 'w').read();
    // The procedure sees the second in which it wrote, the store that of the commit.
    const { _ts, ...rest } = resource.find((made: Document) => made.id === id);
    expect({ ...rest, _ts: stored?._ts }).toEqual(stored);
    expect([0, 1]).toContain((stored?._ts ?? 0) - _ts);
  }
  expect(Number(headers['x-ms-request-charge'])).toBeGreaterThan(9);
  expect(headers['x-ms-session-token']).toMatch(/^0:/);
});

test('an error leaves no writes, and is reported with its line', async () => {
  const body = `function main() {
    const c = getContext().getCollection();
    c.createDocument(c.getSelfLink(), { id: 'one', pk: 'e' });
    c.createDocument(c.getSelfLink(), { id: 'two', pk: 'e' }, function made() {
      throw new Error('on purpose');
    });
  }`;
  await container.scripts.storedProcedures.create({ id: 'fails', body });
  const failing = container.scripts.storedProcedure('fails').execute('e', []);
  await expect(failing).rejects.toMatchObject({ code: 400 });
  await expect(failing).rejects.toThrow(/Exception = Error: on purpose.*at made \(fails\.js:5:/s);
  expect(await rowsOf('e')).toEqual([]);
});

test('a failing call tells its callback, or ends the procedure where it has none', async () => {
  await container.items.create({ id: 'taken', pk: 'f' });
  const { resource } = await execute(
    () => {
      const c = getContext().getCollection();
      const seen: unknown[] = [];
      const note = (error: { number: number } | undefined) => {
        seen.push(error?.number);
        getContext().getResponse().setBody(seen);
      };
      const item = `${c.getAltLink()}/docs/`;
      c.createDocument(c.getSelfLink(), { id: 'taken', pk: 'f' }, note);
      c.createDocument(c.getSelfLink(), { id: 'other', pk: 'not f' }, note);
      c.readDocument(`${item}absent`, {}, note);
      c.replaceDocument(`${item}taken`, { id: 'taken', pk: 'f' }, { etag: '"old"' }, note);
      c.deleteDocument('dbs/x/colls/y/docs/z', {}, note);
      c.queryDocuments(c.getSelfLink(), 'SELECT', {}, note);
    },
    { pk: 'f' },
  );
  expect(resource).toEqual([409, 400, 404, 412, 400, 400]);
  const aborted = execute(
    () => {
      __.createDocument(__.getSelfLink(), { id: 'new', pk: 'f' });
      __.createDocument(__.getSelfLink(), { id: 'taken', pk: 'f' });
    },
    { pk: 'f' },
  );
  await expect(aborted).rejects.toMatchObject({ code: 400, substatus: 409 });
  expect(await rowsOf('f')).toEqual(['taken']);
});

test('reads and queries see the own writes of the procedure, and only its partition key', async () => {
  for (const id of ['1', '2', '3']) await container.items.create({ id, pk: 'q', n: Number(id) });
  await container.items.create({ id: '9', pk: 'other', n: 9 });
  const { resource } = await execute(
    () => {
      const c = getContext().getCollection();
      const self = c.getSelfLink();
      const result: Record<string, unknown> = {};
      const query = (name: string, text: unknown) =>
        c.queryDocuments<unknown>(self, text, {}, (error, rows) => {
          if (error) throw error;
          result[name] = rows;
          getContext().getResponse().setBody(result);
        });
      query('before', 'SELECT VALUE c.n FROM c');
      c.createDocument(self, { id: '4', pk: 'q', n: 2.5 });
      c.readDocument(`${c.getAltLink()}/docs/1`, {}, (_, one) => {
        c.replaceDocument(one._self, { ...one, n: 10 }, { etag: one._etag }, (_, again) => {
          c.replaceDocument(again._self, { ...again, n: 11 }, { etag: again._etag });
          c.deleteDocument(`${c.getAltLink()}/docs/3`, {});
          query('after', 'SELECT VALUE c.n FROM c ORDER BY c.n DESC');
          query('sum', 'SELECT VALUE SUM(c.n) FROM c');
          query('some', {
            query: 'SELECT VALUE c.id FROM c WHERE c.n > @n',
            parameters: [{ name: '@n', value: 2 }],
          });
        });
      });
    },
    { pk: 'q' },
  );
  expect(resource).toEqual({
    before: [1, 2, 3],
    after: [11, 2.5, 2],
    sum: [15.5],
    some: expect.toSatisfy((ids: string[]) => ids.toSorted().join() === '1,4'),
  });
  expect(await rowsOf('q')).toEqual(['1', '2', '4']);
  expect((await container.item('1', 'q').read()).resource).toMatchObject({ n: 11 });
});

test('an item deleted and made again in a procedure is a new one', async () => {
  const { resource: before } = await container.items.create({ id: 'd', pk: 'again' });
  await execute(
    () => {
      __.deleteDocument(`${__.getAltLink()}/docs/d`, {});
      __.createDocument(__.getSelfLink(), { id: 'd', pk: 'again', is: 'new' });
    },
    { pk: 'again' },
  );
  const { resource: after } = await container.item('d', 'again').read();
  expect(after.is).toBe('new');
  expect(after._rid).not.toBe(before?._rid);
});

test('pages of a query go on where the last one ended, in the next run too', async () => {
  for (let n = 0; n < 7; n++) await container.items.create({ id: `${n}`, pk: 'pages' });
  const page = (continuation?: string) => {
    const c = getContext().getCollection();
    const options = { pageSize: 3, continuation };
    c.queryDocuments(c.getSelfLink(), 'SELECT * FROM c', options, (error, rows, more) => {
      if (error) throw error;
      getContext()
        .getResponse()
        .setBody({ ids: rows.map(({ id }) => id), next: more.continuation });
    });
  };
  const pages: string[][] = [];
  for (let next: string | undefined, more = true; more; more = next !== undefined) {
    const { resource } = await execute(page, { pk: 'pages', args: [next] });
    pages.push(resource.ids);
    next = resource.next;
  }
  expect(pages.flat()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
  expect(pages[0]).toHaveLength(3);
});

test('chains filter, map and sort', async () => {
  for (const n of [3, 1, 2])
    await container.items.create({ id: `${n}`, pk: 'chain', n, tags: [n, -n] });
  const { resource } = await execute(
    () => {
      const chain = __.chain() as unknown as Record<string, (...args: unknown[]) => typeof chain>;
      chain
        .filter?.((d: { n: number }) => d.n > 1)
        .sortByDescending?.((d: { n: number }) => d.n)
        .map?.((d: { tags: number[] }) => d.tags)
        .flatten?.()
        .value?.();
    },
    { pk: 'chain' },
  );
  expect(resource).toEqual([3, -3, 2, -2]);
});

test('console.log is returned in a header where the client requests it', async () => {
  const log = () => console.log('The value of %s is %s.', 'x', 1);
  const logged = await execute(log, { options: { enableScriptLogging: true } });
  const header = 'x-ms-documentdb-script-log-results';
  expect(decodeURIComponent(String(logged.headers[header]))).toBe('The value of x is 1.');
  expect((await execute(log)).headers[header]).toBeUndefined();
});

test('procedures at once on the same item do not lose a change', async () => {
  await container.items.create({ id: 'n', pk: 'count', n: 0 });
  await container.scripts.storedProcedures.create({
    id: 'add',
    body: (() => {
      const c = getContext().getCollection();
      c.readDocument(`${c.getAltLink()}/docs/n`, {}, (error, item) => {
        if (error) throw error;
        c.replaceDocument(item._self, { ...item, n: Number(item.n) + 1 }, {});
      });
    }).toString(),
  });
  const add = container.scripts.storedProcedure('add');
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => add.execute('count', [])),
  );
  const done = results.filter(({ status }) => status === 'fulfilled').length;
  for (const result of results)
    if (result.status === 'rejected') expect(result.reason.code).toBe(449);
  const { resource } = await container.item('n', 'count').read();
  expect(resource.n).toBe(done);
  expect(done).toBeGreaterThan(0);
});

test('many items in one procedure', async () => {
  const { resource } = await execute(
    () => {
      let made = 0;
      for (let n = 0; n < 500; n++)
        __.createDocument(__.getSelfLink(), { id: `${n}`, pk: 'many' }, (error) => {
          if (error) throw error;
          __.response.setBody(++made);
        });
    },
    { pk: 'many' },
  );
  expect(resource).toBe(500);
  expect(await rowsOf('many')).toHaveLength(500);
});

test.each([
  ['an endless loop', 'function () { for (;;); }', 408],
  ['a memory bomb', 'function () { const a = []; for (;;) a.push(new Array(1e5).fill(1)); }', 403],
  ['deep recursion', 'function f() { f(); }', 400],
  ['a huge result', 'function () { __.response.setBody("x".repeat(5e6)); }', 413],
  [
    'a huge document',
    'function () { __.createDocument(__.getSelfLink(), { id: "x", pk: "h", x: "x".repeat(3e6) }); }',
    400,
  ],
  ['no function', 'serverScript() { var x = 10; }', 400],
])('%s is refused with its status', async (_, body, code) => {
  const id = `h${++count}`;
  await container.scripts.storedProcedures.create({ id, body });
  const run = container.scripts.storedProcedure(id).execute('h', []);
  await expect(run).rejects.toMatchObject({ code });
  expect(await rowsOf('h')).toEqual([]);
});

test('a procedure that sets no body returns an empty text; one that is not there, 404', async () => {
  await container.scripts.storedProcedures.create({ id: 'plain', body: '() => {}' });
  const plain = container.scripts.storedProcedure('plain');
  expect((await plain.execute('a')).resource).toBe('');
  const absent = container.scripts.storedProcedure('absent').execute('a');
  await expect(absent).rejects.toMatchObject({ code: 404 });
});
