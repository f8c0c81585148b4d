// Goal: throttled commands wait in the server, and beyond the bound are refused as in the reference service. Method: a clock that stands still.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { type Account, ENGINES, startAccount } from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;
  beforeAll(async () => {
    account = await startAccount({
      engine,
      clock: new FakeClock(Date.UTC(2026, 0, 1)),
      settings: { throughputMode: 'enforce', burstSec: 0 },
      retryWaitMs: 0,
    });
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  const TEXT =
    /^Error=16500, RetryAfterMs=\d+, Details='Response status code does not indicate success: TooManyRequests \(429\); Substatus: 3200; Reason: \(Request rate is large\. More Request Units may be needed, so no changes were made\.\)'$/;

  test('16500 with RetryAfterMs, in commands and in batches', async () => {
    const db = (await account.connect({ retryWrites: false, retryReads: false })).db('t');
    const items = db.collection<{ _id: number }>('c');
    const documents = Array.from({ length: 400 }, (_, _id) => ({ _id, filler: 'x'.repeat(500) }));
    await items.insertMany(documents.slice(0, 200));
    await expect(items.insertMany(documents.slice(200))).rejects.toMatchObject({
      code: 16500,
      message: expect.stringMatching(TEXT),
    });
    await expect(items.findOne({ _id: 1 })).rejects.toMatchObject({
      code: 16500,
      codeName: 'TooManyRequests',
      message: expect.stringMatching(TEXT),
    });
    expect(account.reports.at(-1)).toMatchObject({
      operation: 'find',
      outcome: 'throttled',
      charge: 0,
    });
  });
});
