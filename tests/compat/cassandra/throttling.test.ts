// Goal: a table that has used its throughput answers Overloaded with the time to wait. Method: a fake clock, 400 RU/s.
import cassandra from 'cassandra-driver';
import { expect, test } from 'vitest';
import { FakeClock } from '../../../src/base/index.ts';
import { ENGINES, startServer } from './harness.ts';

test.each(ENGINES)(
  'requests beyond the throughput are refused with RetryAfterMs, engine %s',
  async (engine) => {
    const clock = new FakeClock(Date.now());
    const server = await startServer({ engine, clock, settings: { throughputMode: 'enforce' } });
    try {
      const client = await server.connect({
        policies: { retry: new cassandra.policies.retry.FallthroughRetryPolicy() },
      });
      await client.execute(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
      );
      await client.execute(
        'CREATE TABLE k.t (a int PRIMARY KEY, v text) WITH cosmosdb_provisioned_throughput = 400',
      );
      const insert = () =>
        client.execute('INSERT INTO k.t (a, v) VALUES (?, ?)', [1, 'x'.repeat(50_000)], {
          prepare: true,
        });
      let refusal: (Error & { code?: number }) | undefined;
      for (let count = 0; count < 100 && refusal === undefined; count++)
        await insert().catch((error) => {
          refusal = error;
        });
      expect(refusal?.code).toBe(cassandra.types.responseErrorCodes.overloaded);
      const wait = /^Request rate is large: .*RetryAfterMs=(\d+), /.exec(
        refusal?.message ?? '',
      )?.[1];
      expect(Number(wait)).toBeGreaterThan(0);
      expect(server.reports.at(-1)).toMatchObject({ operation: 'execute', outcome: 'throttled' });
      clock.advance(Number(wait) + 1000);
      await insert();
      expect(server.failures).toEqual([]);
    } finally {
      await server.close();
    }
  },
);
