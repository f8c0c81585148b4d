/** Hostile scripts do not hold up other requests; method: point reads beside procedures and functions that never end well. */
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';

/** Far below the time a script may take, far above what a busy machine adds; the bench has the true figure. */
const READ_MS_MAX = 400;
const READS = 200;

const HOSTILE: readonly [id: string, body: string, code: number][] = [
  ['loop', '() => { for (;;); }', 408],
  ['promises', '() => { const f = () => Promise.resolve().then(f); return f(); }', 408],
  ['regex', '() => /^(a+)+$/.test("a".repeat(40) + "b")', 408],
  ['memory', '() => { const a = []; for (;;) a.push(new Array(1e5).fill(1)); }', 403],
  [
    'deep',
    '() => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; __.response.setBody(o); }',
    408,
  ],
  ['calls', '() => { while (true) __.queryDocuments(__.getSelfLink(), "SELECT * FROM c"); }', 408],
];

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount({ settings: { scriptTimeLimitMs: 1000 } });
  const { database } = await account.client().databases.create({ id: 'hostile' });
  ({ container } = await database.containers.create({ id: 'c', partitionKey: { paths: ['/pk'] } }));
  await container.items.create({ id: 'calm', pk: 'p' });
  for (const [id, body] of HOSTILE) {
    await container.scripts.storedProcedures.create({ id, body });
    await container.scripts.userDefinedFunctions.create({ id, body });
  }
});
afterAll(async () => {
  await account.close();
  expect(account.failures).toEqual([]);
});

test('point reads go on beside hostile procedures and functions, which all end with their status', async () => {
  const procedures = HOSTILE.map(([id, , code]) =>
    expect(container.scripts.storedProcedure(id).execute('p', [])).rejects.toMatchObject({ code }),
  );
  const functions = ['loop', 'regex'].map((id) =>
    expect(
      container.items.query(`SELECT udf.${id}() FROM c`, { partitionKey: 'p' }).fetchAll(),
    ).rejects.toMatchObject({ code: 408 }),
  );
  const timesMs: number[] = [];
  for (let read = 0; read < READS; read++) {
    const startedMs = performance.now();
    const { resource } = await container.item('calm', 'p').read();
    timesMs.push(performance.now() - startedMs);
    expect(resource?.id).toBe('calm');
  }
  timesMs.sort((a, b) => a - b);
  expect(timesMs[Math.floor(READS * 0.99)]).toBeLessThan(READ_MS_MAX);
  await Promise.all([...procedures, ...functions]);
});
