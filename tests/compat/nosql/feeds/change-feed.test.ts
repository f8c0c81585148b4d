// Goal: the stock client's change feed iterators see what was written, in both modes, from every start, over splits and
// merges. Method: the unmodified client against an account of its own; raw requests for what it does not show.
import {
  ChangeFeedMode,
  ChangeFeedPolicy,
  ChangeFeedRetentionTimeSpan,
  ChangeFeedStartFrom,
  type Container,
  type ContainerRequest,
} from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, type EngineName, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

const MINUTES = ChangeFeedRetentionTimeSpan.fromMinutes(5);

describe.each<EngineName>(['memory', 'sqlite'])('change feed on %s', (engine) => {
  let account: Account;
  let number = 0;

  beforeAll(async () => {
    account = await startAccount({ engine });
    await account.client().databases.create({ id: 'd' });
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function makeContainer(more: Partial<ContainerRequest> = {}): Promise<Container> {
    const spec = { id: `c${number++}`, partitionKey: '/pk', throughput: 1000, ...more };
    const { container } = await account.client().database('d').containers.create(spec);
    return container;
  }

  function record(container: Container) {
    const database = account.service.databases.find('d');
    const found = database && account.service.containers.find(database, container.id);
    if (found === undefined) throw new Error('no container');
    return found;
  }

  type Iterator = ReturnType<Container['items']['getChangeFeedIterator']>;

  /** Everything there is now. */
  async function drain(iterator: Iterator): Promise<{ items: Item[]; continuation: string }> {
    const items: Item[] = [];
    for (;;) {
      const { result, statusCode, continuationToken } = await iterator.readNext();
      items.push(...((result ?? []) as unknown as Item[]));
      if (statusCode === 304) return { items, continuation: continuationToken };
    }
  }

  interface Item {
    readonly id: string;
    readonly n: number;
    readonly _lsn: number;
  }

  test('the whole container from the beginning, from now, from a continuation', async () => {
    const container = await makeContainer({ throughput: 25_000 });
    for (let n = 0; n < 30; n++) await container.items.create({ id: `${n}`, pk: `k${n % 9}`, n });
    const fromNow = container.items.getChangeFeedIterator({
      changeFeedStartFrom: ChangeFeedStartFrom.Now(),
    });
    expect((await drain(fromNow)).items).toEqual([]);
    const all = container.items.getChangeFeedIterator({
      changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
      maxItemCount: 4,
    });
    const first = await drain(all);
    expect(first.items.map(({ n }) => n).sort((a, b) => a - b)).toEqual([...Array(30).keys()]);
    expect(first.items.every(({ _lsn }) => _lsn > 0)).toBe(true);
    await container.items.upsert({ id: '3', pk: 'k3', n: 33 });
    await container.item('4', 'k4').delete();
    expect((await drain(fromNow)).items).toMatchObject([{ id: '3', n: 33 }]);
    const resumed = container.items.getChangeFeedIterator({
      changeFeedStartFrom: ChangeFeedStartFrom.Continuation(first.continuation),
    });
    expect((await drain(resumed)).items).toMatchObject([{ id: '3', n: 33 }]);
  });

  test('one key, the first levels of a hierarchical key, feed ranges, a time', async () => {
    const container = await makeContainer({
      partitionKey: { paths: ['/a', '/b'], kind: 'MultiHash', version: 2 } as never,
      throughput: 25_000,
    });
    for (let n = 0; n < 12; n++)
      await container.items.create({ id: `${n}`, a: `a${n % 2}`, b: n % 3, n });
    const numbers = async (start: ChangeFeedStartFrom) => {
      const options = { changeFeedStartFrom: start, maxItemCount: 2 };
      const { items } = await drain(container.items.getChangeFeedIterator(options));
      return items.map(({ n }) => n);
    };
    expect(await numbers(ChangeFeedStartFrom.Beginning(['a0', 0]))).toEqual([0, 6]);
    expect(await numbers(ChangeFeedStartFrom.Beginning(['a1']))).toHaveLength(6);
    const ranges = await container.getFeedRanges();
    const ofRanges = await Promise.all(
      ranges.map((range) => numbers(ChangeFeedStartFrom.Beginning(range))),
    );
    expect(ofRanges.flat().sort((a, b) => a - b)).toEqual([...Array(12).keys()]);
    const hourAgo = new Date(Date.now() - 3_600_000);
    expect(await numbers(ChangeFeedStartFrom.Time(hourAgo))).toHaveLength(12);
    expect(await numbers(ChangeFeedStartFrom.Time(new Date(Date.now() + 60_000)))).toEqual([]);
  });

  test('the older iterator: by key, by time, by continuation; 304 has an etag', async () => {
    const container = await makeContainer();
    for (let n = 0; n < 5; n++) await container.items.create({ id: `${n}`, pk: 'k', n });
    const iterator = container.items.changeFeed<Item>('k', {
      startFromBeginning: true,
      maxItemCount: 2,
    });
    const seen: number[] = [];
    while (iterator.hasMoreResults)
      seen.push(...(await iterator.fetchNext()).result.map(({ n }) => n));
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    const page = await container.items
      .changeFeed<Item>('k', { startFromBeginning: true, maxItemCount: 3 })
      .fetchNext();
    const resumed = container.items.readChangeFeed<Item>('k', { continuation: page.etag });
    expect((await resumed.fetchNext()).result.map(({ n }) => n)).toEqual([3, 4]);
    const since = container.items.changeFeed<Item>('k', {
      startTime: new Date(Date.now() - 60_000),
    });
    expect((await since.fetchNext()).count).toBe(5);
    const idle = await container.items.changeFeed('k', { continuation: '"5"' }).fetchNext();
    expect([idle.statusCode, idle.etag, idle.headers['x-ms-request-charge']]).toEqual([
      304,
      '"5"',
      '1',
    ]);
  });

  test('all versions and deletes', async () => {
    const container = await makeContainer({ changeFeedPolicy: new ChangeFeedPolicy(MINUTES) });
    const mode = { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes };
    const iterator = container.items.getChangeFeedIterator({
      ...mode,
      changeFeedStartFrom: ChangeFeedStartFrom.Now(),
    });
    await drain(iterator);
    await container.items.create({ id: 'a', pk: 'k', n: 1 });
    await container.items.upsert({ id: 'a', pk: 'k', n: 2 });
    await container.item('a', 'k').delete();
    const { items } = await drain(iterator);
    expect(items).toMatchObject([
      { current: { n: 1 }, metadata: { operationType: 'create', lsn: 1 } },
      { current: { n: 2 }, metadata: { operationType: 'replace', lsn: 2, previousImageLSN: 1 } },
      {
        current: {},
        previous: { n: 2 },
        metadata: {
          operationType: 'delete',
          lsn: 3,
          previousImageLSN: 2,
          timeToLiveExpired: false,
          id: 'a',
          partitionKey: { pk: 'k' },
        },
      },
    ]);
    const minuteAgo = container.items.getChangeFeedIterator({
      ...mode,
      changeFeedStartFrom: ChangeFeedStartFrom.Time(new Date(Date.now() - 60_000)),
    });
    expect((await drain(minuteAgo)).items).toHaveLength(3);
    for (const start of [
      ChangeFeedStartFrom.Beginning(),
      ChangeFeedStartFrom.Time(new Date(Date.now() - 3_600_000)),
    ]) {
      const late = container.items.getChangeFeedIterator({ ...mode, changeFeedStartFrom: start });
      await expect(late.readNext()).rejects.toMatchObject({
        code: 400,
        message: expect.stringContaining('from within the retention period'),
      });
    }
    const other = await makeContainer();
    const refused = other.items.getChangeFeedIterator({
      ...mode,
      changeFeedStartFrom: ChangeFeedStartFrom.Now(),
    });
    await expect(refused.readNext()).rejects.toMatchObject({ code: 400 });
  });

  test.each([ChangeFeedMode.LatestVersion, ChangeFeedMode.AllVersionsAndDeletes])(
    'an iterator goes on over a split and a merge (%s)',
    async (changeFeedMode) => {
      const container = await makeContainer({ changeFeedPolicy: new ChangeFeedPolicy(MINUTES) });
      const iterator = container.items.getChangeFeedIterator({
        changeFeedStartFrom: ChangeFeedStartFrom.Now(),
        changeFeedMode,
        maxItemCount: 3,
      });
      await drain(iterator);
      const { resizer } = account.service;
      const seen: string[] = [];
      const written: string[] = [];
      const write = async (name: string) => {
        for (let n = 0; n < 10; n++) {
          await container.items.create({ id: `${name}${n}`, pk: `k${n}`, n });
          written.push(`${name}${n}`);
        }
      };
      const read = async () => {
        for (const item of (await drain(iterator)).items as unknown as {
          id?: string;
          current?: Item;
        }[])
          seen.push(item.id ?? item.current?.id ?? '');
      };
      await write('a');
      await resizer.split(record(container), '0');
      await write('b');
      await read();
      await resizer.split(record(container), '1');
      await write('c');
      await read();
      await write('d');
      await resizer.merge(
        record(container),
        record(container).partitions.map(({ id }) => id),
      );
      await write('e');
      await read();
      expect(seen.sort()).toEqual(written.sort());
    },
  );

  test('what a raw request learns: etags, session, 410, refusals', async () => {
    const container = await makeContainer({ throughput: 25_000 });
    for (let n = 0; n < 9; n++) await container.items.create({ id: `${n}`, pk: `k${n}`, n });
    const path = `/dbs/d/colls/${container.id}/docs`;
    const feed = (headers: Record<string, string>) =>
      sendRaw(account, { path, headers: { 'a-im': 'Incremental feed', ...headers } });
    const range = { 'x-ms-documentdb-partitionkeyrangeid': '1' };
    const page = await feed(range);
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      etag: `"${page.headers.lsn}"`,
      'x-ms-documentdb-partitionkeyrangeid': '1',
      'x-ms-session-token': `1:-1#${page.headers.lsn}`,
    });
    expect(page.headers['x-ms-item-count']).toBe(String((page.json.Documents as unknown[]).length));
    const idle = await feed({ ...range, 'if-none-match': String(page.headers.etag) });
    expect([idle.status, idle.headers.etag]).toEqual([304, page.headers.etag]);
    // Without a range the container is read partition by partition.
    const seen: string[] = [];
    let etag: string | undefined;
    for (;;) {
      const next = await feed(etag === undefined ? {} : { 'if-none-match': etag });
      etag = String(next.headers.etag);
      if (next.status === 304) break;
      seen.push(...(next.json.Documents as Item[]).map(({ id }) => id));
    }
    expect(seen.sort()).toEqual([...Array(9).keys()].map(String));
    const gone = await feed({ 'x-ms-documentdb-partitionkeyrangeid': '77' });
    expect([gone.status, gone.headers['x-ms-substatus']]).toEqual([410, '1002']);
    for (const bad of [
      { 'a-im': 'Something' },
      { 'if-none-match': '"zzz"' },
      { 'if-none-match': '"99999"' },
      { 'if-modified-since': 'yesterday' },
      { 'x-ms-max-item-count': '0' },
      { 'x-ms-cosmos-changefeed-wire-format-version': '1999-01-01' },
    ])
      expect((await feed({ ...range, ...bad } as Record<string, string>)).status).toBe(400);
  });
});
