// Goal: the stock client connects, logs in and gets results in every format. Method: scripts and bytecode on an empty graph.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, MIMES, startAccount } from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ engine });
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  describe.each(Object.entries(MIMES))('%s', (name, mimeType) => {
    test('a script returns values', async () => {
      const client = account.client({ mimeType });
      const result = await client.submit('g.inject(1, 2.5, "a", x)', { x: true });
      expect(result.toArray()).toEqual([1, 2.5, 'a', true]);
    });

    test('bytecode returns values', async () => {
      const g = account.source(mimeType);
      expect(await g.inject(1, 'a', [2, 3]).toList()).toEqual([1, 'a', [2, 3]]);
    });

    test('a vertex is added and found', async () => {
      const client = account.client({ mimeType });
      const id = `v-${name}`;
      await client.submit(
        "g.addV('person').property('id', id).property('pk', 'a').property('age', 29)",
        { id },
      );
      const found = await client.submit("g.V(['a', id]).values('age')", { id });
      expect(found.toArray()).toEqual([29]);
    });
  });
});
