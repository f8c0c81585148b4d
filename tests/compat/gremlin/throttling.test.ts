// Goal: a throttled traversal is refused as in the service, with the time to wait. Method: a clock that stands still, set once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { type Account, ENGINES, MIMES, startAccount } from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({
      engine,
      clock: new FakeClock(Date.now()),
      settings: { throughputMode: 'enforce', burstSec: 0 },
    });
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test('429 with x-ms-retry-after-ms', async () => {
    const client = account.client({ mimeType: MIMES.graphson2 });
    const add = async (): Promise<void> => {
      for (let at = 0; at < 1000; at++)
        await client.submit(
          "g.addV('person').property('id',id).property('pk','a').property('t',t)",
          {
            id: `v${at}`,
            t: 'x'.repeat(1000),
          },
        );
    };
    await expect(add()).rejects.toMatchObject({
      statusCode: 500,
      statusMessage: expect.stringContaining('ExceptionType : RequestRateTooLargeException'),
      statusAttributes: {
        'x-ms-status-code': 429,
        'x-ms-retry-after-ms': expect.stringMatching(/^00:00:0\d\.\d{7}$/),
      },
    });
    expect(account.reports.at(-1)).toMatchObject({ operation: 'eval', outcome: 'throttled' });
  });
});
