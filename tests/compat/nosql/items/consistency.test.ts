// Goal: the five levels are taken where the account has them, refused where they are stronger. Method: the stock client and raw requests against accounts of each level.
import { ConsistencyLevel } from '@azure/cosmos';
import { expect, test } from 'vitest';
import { CONSISTENCY_LEVELS } from '../../../../src/throughput/index.ts';
import { startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

test.each(CONSISTENCY_LEVELS.map((level, at) => [level, at] as const))(
  'an account of %s',
  async (level, strength) => {
    const account = await startAccount({ settings: { consistency: level } });
    const client = account.client();
    const { resource: shown } = await client.getDatabaseAccount();
    expect(shown?.consistencyPolicy).toBe(level);
    const { database } = await client.databases.create({ id: 'd' });
    const { container } = await database.containers.create({ id: 'c', partitionKey: '/id' });
    await container.items.create({ id: '1' });
    for (const [at, requested] of CONSISTENCY_LEVELS.entries()) {
      const item = account
        .client({ consistencyLevel: ConsistencyLevel[requested] })
        .database('d')
        .container('c')
        .item('1', '1');
      if (at >= strength) expect((await item.read()).resource?.id).toBe('1');
      else
        await expect(item.read()).rejects.toMatchObject({
          code: 400,
          message: expect.stringContaining(
            `ConsistencyLevel ${requested} specified in the request is invalid when service is configured with consistency level ${level}.`,
          ),
        });
      const query = await sendRaw(account, {
        method: 'POST',
        path: '/dbs/d/colls/c/docs',
        headers: {
          'x-ms-documentdb-isquery': 'true',
          'x-ms-documentdb-query-enablecrosspartition': 'true',
          'x-ms-consistency-level': requested,
        },
        body: { query: 'SELECT * FROM c' },
      });
      expect(query.status).toBe(at >= strength ? 200 : 400);
    }
    expect(account.failures).toEqual([]);
    await account.close();
  },
);
