/** Hostile scripts do not hold up other requests; method: point reads while procedures and functions fail. */
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

/** A script that stalled the others would let one read through, or two; the bench has the true figure. */
const READS_MIN = 20;
const TIME_LIMIT_MS = 3000;

const BODIES = {
  loop: '() => { for (;;); }',
  promises: '() => { const f = () => Promise.resolve().then(f); return f(); }',
  regex: '() => /^(a+)+$/.test("a".repeat(40) + "b")',
  memory: '() => { const a = []; for (;;) a.push(new Array(1e5).fill(1)); }',
  deep: '() => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; __.response.setBody(o); }',
  calls: '() => { while (true) __.queryDocuments(__.getSelfLink(), "SELECT * FROM c"); }',
};
const HOSTILE = Object.keys(BODIES);

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount({ settings: { scriptTimeLimitMs: TIME_LIMIT_MS } });
  const { database } = await account.client().databases.create({ id: 'hostile' });
  ({ container } = await database.containers.create({ id: 'c', partitionKey: { paths: ['/pk'] } }));
  await container.items.create({ id: 'calm', pk: 'p' });
  for (const [id, body] of Object.entries(BODIES)) {
    await container.scripts.storedProcedures.create({ id, body });
    await container.scripts.userDefinedFunctions.create({ id, body });
  }
});
afterAll(async () => {
  await account.close();
  expect(account.failures).toEqual([]);
});

/** Time 408, memory 403, depth of the response 400; a slow machine runs out of time, or of its queue (503), first. */
const CODES = [400, 403, 408, 503];

test('point reads go on during hostile procedures and functions, which all end with their status', async () => {
  const ended = Promise.allSettled([
    ...HOSTILE.map((id) => container.scripts.storedProcedure(id).execute('p', [])),
    container.items.query('SELECT udf.loop() FROM c', { partitionKey: 'p' }).fetchAll(),
    container.items.query('SELECT udf.regex() FROM c', { partitionKey: 'p' }).fetchAll(),
  ]);
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  let reads = 0;
  for (; !hasEnded; reads++) {
    const { resource } = await container.item('calm', 'p').read();
    expect(resource?.id).toBe('calm');
  }
  expect(reads).toBeGreaterThan(READS_MIN);
  for (const end of await ended) {
    expect(end.status).toBe('rejected');
    if (end.status === 'rejected') expect(CODES).toContain(end.reason.code);
  }
});
