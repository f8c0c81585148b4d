// Goal: all APIs behave the same on the PostgreSQL engine, and so do kills and splits. Method: their suites run once more
// in a process of their own, in which every account is a schema of one real member.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { LocalReplicaSet } from '../../src/engine/postgres/local/local-replica-set.ts';
import { reportMissing } from '../../src/engine/postgres/local/test-member.ts';
import { isLong, startSet } from './world.ts';

/** A part that takes some ten seconds. */
const CHOSEN = [
  'tests/compat/nosql/items/items.test.ts',
  'tests/compat/nosql/items/batch.test.ts',
  'tests/compat/nosql/partitions/splits.test.ts',
  'tests/compat/table/entities.test.ts',
  'tests/compat/mongo/transactions.test.ts',
  'tests/compat/cassandra/rows.test.ts',
  'tests/compat/gremlin/traversals.test.ts',
];
const ALL = ['tests/compat'];
/** These run a part of themselves on PostgreSQL. */
const CHOSEN_CRASHES = [
  ...['kill', 'batch-kill', 'split-kill', 'transaction-kill'].map(
    (name) => `tests/crash/${name}.test.ts`,
  ),
  'tests/partitions/split.test.ts',
];
const ALL_CRASHES = ['tests/crash', 'tests/partitions/split.test.ts'];

const started = await startSet({
  members: 1,
  settings: { fsync: 'off', max_connections: '400' },
});
if (typeof started === 'string') reportMissing(new Error(started));
else withMember(started);

function withMember(set: LocalReplicaSet): void {
  afterAll(() => set.stop());

  // Suites of the APIs run at their usual length: their long forms are for one engine.
  test.each([
    ['the APIs', isLong ? ALL : CHOSEN, undefined],
    ['kills and splits', isLong ? ALL_CRASHES : CHOSEN_CRASHES, process.env.MESOCOSM_LONG],
  ])('suites of %s', { timeout: 3_600_000 }, async (_, files, length) => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
    const args = [vitest, 'run', '--project', 'compat', '--maxWorkers', '2'];
    const child = spawn(process.execPath, [...args, ...files], {
      cwd: root,
      env: {
        ...process.env,
        MESOCOSM_TEST_ENGINE: 'postgres',
        MESOCOSM_TEST_POSTGRES: set.url,
        // Undefined is left out: an empty one would be long too.
        MESOCOSM_LONG: length,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code, output).toBe(0);
  });
}
