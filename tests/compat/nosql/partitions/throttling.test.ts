// Goal: a client that requests more than is provisioned is refused as the service does it, and a stock client that does
// nothing about it still gets everything done. Method: raw requests in fake time; the SDK with its default retries.
import type { Container } from '@azure/cosmos';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../../src/base/index.ts';
import type { BudgetReport } from '../../../../src/throughput/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

const RATE = 400;
const NOT_BURSTING = { throughputMode: 'enforce', burstSec: 0 } as const;

describe('refusals', () => {
  // Requests are signed with the time of day.
  const clock = new FakeClock(Date.now());
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ clock, settings: NOT_BURSTING });
    const { database } = await account.client().databases.create({ id: 'd' });
    await database.containers.create({ id: 'c', partitionKey: '/pk', throughput: 400 });
    const item = { id: 'i', pk: 'p', text: 'x'.repeat(300_000) };
    await database.container('c').items.create(item);
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  const read = (headers: Record<string, string> = {}): Promise<RawReply> =>
    sendRaw(account, {
      path: '/dbs/d/colls/c/docs/i',
      headers: { 'x-ms-documentdb-partitionkey': '["p"]', ...headers },
    });

  async function readUntilRefused(headers: Record<string, string> = {}): Promise<RawReply> {
    for (;;) {
      const reply = await read(headers);
      if (reply.status !== 200) return reply;
    }
  }

  test('429/3200 with the time to wait, no charge, the session and the container', async () => {
    clock.advance(60_000);
    const reply = await readUntilRefused();
    expect(reply.status).toBe(429);
    expect(reply.headers).toMatchObject({
      'x-ms-substatus': '3200',
      'x-ms-request-charge': '0',
      'x-ms-session-token': '0:-1#1',
      'x-ms-alt-content-path': 'dbs/d/colls/c',
    });
    const waitMs = Number(reply.headers['x-ms-retry-after-ms']);
    expect(waitMs).toBeGreaterThan(0);
    expect(reply.json.code).toBe('TooManyRequests');
    expect(reply.json.message).toContain(
      'Request rate is large. More Request Units may be needed, so no changes were made.',
    );
    clock.advance(waitMs - 1);
    expect((await read()).status).toBe(429);
    clock.advance(1);
    expect((await read()).status).toBe(200);
  });

  test('what only looks at the catalog is never refused', async () => {
    await readUntilRefused();
    for (const path of ['/dbs/d', '/dbs/d/colls/c', '/dbs/d/colls/c/pkranges', '/offers'])
      expect((await sendRaw(account, { path })).status, path).toBe(200);
  });

  test('low priority goes first', async () => {
    clock.advance(60_000);
    const low = { 'x-ms-cosmos-priority-level': 'Low' };
    const reply = await readUntilRefused(low);
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([429, '3200']);
    expect((await read({ 'x-ms-cosmos-priority-level': 'High' })).status).toBe(200);
  });

  test('a throughput bucket that used its share: 429/3088', async () => {
    const database = account.client().database('d');
    const { resource: offer } = await database.container('c').readOffer();
    const changed = await sendRaw(account, {
      method: 'PUT',
      path: `/offers/${offer?.id}`,
      link: offer?.id?.toLowerCase() ?? '',
      body: {
        ...offer,
        content: { throughputBuckets: [{ id: 3, maxThroughputPercentage: 10 }] },
      },
    });
    expect(changed.status).toBe(200);
    clock.advance(60_000);
    const reply = await readUntilRefused({ 'x-ms-cosmos-throughput-bucket': '3' });
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([429, '3088']);
    expect((await read({ 'x-ms-cosmos-throughput-bucket': '4' })).status).toBe(200);
  });

  test.each([
    { 'x-ms-cosmos-priority-level': 'Middle' },
    { 'x-ms-cosmos-throughput-bucket': '6' },
    { 'x-ms-cosmos-throughput-bucket': '0' },
    { 'x-ms-cosmos-throughput-bucket': 'x' },
  ])('%j is refused', async (headers) => {
    expect((await read(headers)).status).toBe(400);
  });
});

/** RU charged and refusals of the account's one partition. */
function usage({ service: { databases, containers } }: Account): BudgetReport {
  const [report] = databases
    .list()
    .flatMap((owner) => containers.list(owner))
    .flatMap((record) => containers.routes(record))
    .map((route) => containers.budget(route));
  if (report === undefined) throw new Error('no partition');
  return report;
}

const isLong = process.env.MESOCOSM_LONG !== undefined;

/** Some 23 RU to write: few requests exceed the provisioned throughput, even on a busy machine. */
const LARGE = 'x'.repeat(64 * 1024);

describe('a stock client with its default retries', () => {
  let account: Account;
  let container: Container;

  beforeEach(async () => {
    account = await startAccount({ settings: NOT_BURSTING });
    const { database } = await account.client().databases.create({ id: 'd' });
    ({ container } = await database.containers.create({
      id: 'c',
      partitionKey: '/pk',
      throughput: RATE,
    }));
  });

  afterEach(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('finishes what many workers want at once', async () => {
    let charge = 0;
    const startedMs = performance.now();
    const worker = async (name: number): Promise<void> => {
      for (let at = 0; at < 2; at++) {
        const item = { id: `${name}-${at}`, pk: `k${at % 3}`, text: LARGE };
        const { requestCharge } = await container.items.create(item);
        expect(requestCharge).toBeGreaterThan(22);
        charge += requestCharge;
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, name) => worker(name)));
    const seconds = (performance.now() - startedMs) / 1000;
    const report = usage(account);
    // On a machine busy with other things so few requests come that none need be refused.
    if (isLong) expect(report.throttled).toBeGreaterThan(20);
    expect(report.requestUnits).toBeCloseTo(charge);
    // The budget that was full at the start, and the rate from then on.
    expect(charge).toBeLessThanOrEqual(RATE * (seconds + 0.9) + 5);
  });

  test('finishes a load of three times what is provisioned, whatever it takes', async () => {
    const seconds = isLong ? 10 : 1;
    const count = Math.floor((3 * RATE * seconds) / 22.67);
    const stepMs = (seconds * 1000) / count;
    const startedMs = performance.now();
    let chargeInTime = 0;
    const creations: Promise<void>[] = [];
    for (let at = 0; at < count; at++) {
      const waitMs = startedMs + at * stepMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const creation = container.items.create({ id: `i${at}`, pk: `k${at % 7}`, text: LARGE });
      creations.push(
        creation.then(({ requestCharge }) => {
          if (performance.now() - startedMs <= seconds * 1000) chargeInTime += requestCharge;
        }),
      );
    }
    await Promise.all(creations);
    const elapsedSec = (performance.now() - startedMs) / 1000;
    // Three times the rate, less what was in the bucket and the last overdraft.
    expect(elapsedSec).toBeGreaterThan(3 * seconds - 1.05);
    if (isLong) expect(usage(account).throttled).toBeGreaterThan(20);
    // The bucket was full: of ten seconds that is a tenth, of one second nearly as much again.
    expect(chargeInTime / (RATE * seconds)).toBeLessThanOrEqual(1 + 1 / seconds);
    if (isLong) expect(chargeInTime / (RATE * seconds)).toBeGreaterThanOrEqual(0.95);
  });
});
