// Goal: programs of tables lose nothing to throttling. Method: accounts that enforce throughput, the stock client with its own retries, in both modes.
import type { TransactionAction } from '@azure/data-tables';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { type Account, type Mode, startAccount } from './harness.ts';
import { type RawReply, sendRaw } from './raw-request.ts';

/** The default of the client. */
const STOCK = { retryOptions: {} };

let account: Account;
beforeAll(async () => {
  account = await startAccount({ settings: { throughputMode: 'enforce' } });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function hundred(partitionKey: string): TransactionAction[] {
  return Array.from({ length: 100 }, (_, at) => [
    'create',
    { partitionKey, rowKey: String(at), name: `entity ${at}`, total: at * 1.5, isOpen: true },
  ]);
}

async function count(mode: Mode, name: string): Promise<number> {
  let entities = 0;
  for await (const _ of account.table(mode, name, STOCK).listEntities()) entities++;
  return entities;
}

test('a loop of transactions of 100 entities loses none of them at the default throughput', async () => {
  const table = account.table('cosmos', 'loop', STOCK);
  await table.createTable();
  for (let at = 0; at < 8; at++) await table.submitTransaction(hundred(`p${at}`));
  expect(await count('cosmos', 'loop')).toBe(800);
});

test('20 workers lose none of 1,000 single creates at the default throughput', async () => {
  const table = account.table('cosmos', 'workers', STOCK);
  await table.createTable();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let row = next++; row < 1000; row = next++)
      await table.createEntity({ partitionKey: `p${row % 7}`, rowKey: String(row), total: row });
  };
  await Promise.all(Array.from({ length: 20 }, work));
  expect(await count('cosmos', 'workers')).toBe(1000);
});

/** A table of 400 RU/s, and batches that overdraw it by seconds. */
async function overdrawn(
  limited: Account,
  host: string,
): Promise<(path: string) => Promise<RawReply>> {
  const send = (method: string, path: string, body: object | string, type = 'application/json') =>
    sendRaw(limited, { method, path, body, headers: { host, 'content-type': type } });
  await sendRaw(limited, {
    method: 'POST',
    path: '/Tables',
    body: { TableName: 'slow' },
    headers: { host, 'x-ms-offer-throughput': '400' },
  });
  let batches = 0;
  const batch = (): Promise<RawReply> => {
    batches++;
    const changes = Array.from({ length: 100 }, (_, at) => {
      const body = { PartitionKey: 'p', RowKey: `${batches}-${at}`, text: 'x'.repeat(30_000) };
      return `--c\r\nContent-Type: application/http\r\n\r\nPOST /slow HTTP/1.1\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(body)}\r\n`;
    });
    const text = `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${changes.join('')}--c--\r\n--b--\r\n`;
    return send('POST', '/$batch', text, 'multipart/mixed; boundary=b');
  };
  return (path) => (path === '/$batch' ? batch() : send('POST', path, KEYS));
}
const KEYS = { PartitionKey: 'p', RowKey: 'single' };

test('a throttled batch is refused as a whole, with the time to wait where clients look for it', async () => {
  const limited = await startAccount({
    settings: { throughputMode: 'enforce' },
    retryWaitMs: 0,
  });
  try {
    const send = await overdrawn(limited, `localhost:${limited.port}`);
    expect(await send('/$batch')).toMatchObject({ status: 202 });
    for (const path of ['/$batch', '/slow']) {
      const refused = await send(path);
      expect(refused).toMatchObject({ status: 429, code: 'TooManyRequests' });
      expect(refused.headers['content-type']).toContain('application/json');
      expect(Number(refused.headers['x-ms-retry-after-ms'])).toBeGreaterThan(0);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(limited.failures).toEqual([]);
  } finally {
    await limited.close();
  }
});

test('Storage has no request units: nothing is refused, and other requests do not wait', async () => {
  // The clock does not advance: a request that is refused once is refused for ever.
  const clock = new FakeClock(Date.now());
  const limited = await startAccount({ clock, settings: { throughputMode: 'enforce' } });
  try {
    const send = await overdrawn(limited, `127.0.0.1:${limited.port}`);
    for (let at = 0; at < 3; at++) {
      const reply = await send('/$batch');
      expect(reply.status).toBe(202);
      expect(reply.text.match(/HTTP\/1\.1 201/g)?.length).toBe(100);
    }
    expect((await send('/slow')).status).toBe(201);
    const one = limited.table('cosmos', 'slow');
    expect(await one.getEntity('p', 'single')).toMatchObject({ rowKey: 'single' });
    expect(limited.failures).toEqual([]);
  } finally {
    await limited.close();
  }
});
