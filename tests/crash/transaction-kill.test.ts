// Goal: a transaction over partitions and containers is whole or nothing after kill -9 at any step, and whole if acknowledged.
// Method: a child kills itself at the named step of a commit, again and again on the same storage; then it is read without it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/base/index.ts';
import { Bank, EDGES } from './bank.ts';
import { isShort, newStorage, openStored, type StorageFlags } from './storage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);
/** A child that never comes to its step is ended, and the test says so. */
const DEADLINE_MS = 240_000;
const STEPS = ['prepare', 'prepared', 'committed', 'resolved'] as const;
const ROUNDS = isShort ? STEPS.slice(1, 3) : [...STEPS, ...STEPS, ...STEPS];

test(`transfers killed at every step (MESOCOSM_SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const storage = newStorage();
  const acknowledged: string[] = [];
  for (const [round, step] of ROUNDS.entries()) {
    const killAfterMs = round < STEPS.length ? 0 : random.below(20);
    const at = 5 + random.below(30);
    const work = { step, at, killAfterMs, work: 'transfer', round };
    acknowledged.push(...(await runChild(storage, work)));
    const { isWhole, notes } = await readBank(storage);
    expect(isWhole, `after ${step}`).toBe(true);
    for (const [name, { count, of }] of notes) expect(count, name).toBe(of);
    for (const name of acknowledged) expect(notes.has(`t-${name}`), name).toBe(true);
  }
  if (!isShort) expect(acknowledged.length).toBeGreaterThan(STEPS.length * 10);
});

const DROPS = [
  ['prepare', 40],
  ['prepared', 0],
  ['committed', 0],
  ['committed', 15],
  ['resolved', 0],
] as const;

test.each(isShort ? [] : DROPS)(
  '10,500 deletions killed at %s and %d ms',
  async (step, killAfterMs) => {
    const storage = newStorage();
    const lines = await runChild(storage, { step, at: 1, killAfterMs, work: 'drop', round: 0 });
    expect(lines[0]).toBe('filled');
    const { edges } = await readBank(storage);
    expect([0, EDGES]).toContain(edges);
    if (step === 'prepared') expect(edges).toBe(EDGES);
    if (step !== 'prepare' && step !== 'prepared') expect(edges).toBe(0);
  },
);

interface Work {
  readonly step: string;
  readonly at: number;
  readonly killAfterMs: number;
  readonly work: string;
  readonly round: number;
}

/** Returns the lines that the child printed before it was killed. */
async function runChild(storage: StorageFlags, work: Work): Promise<readonly string[]> {
  const child = spawn(
    join(root, 'node_modules/node/bin/node'),
    [join(root, 'tests/crash/transaction-child.ts')],
    {
      env: {
        PATH: process.env.PATH ?? '',
        MESOCOSM_SEED: String(SEED + work.round),
        MESOCOSM_TEST_FLAGS: JSON.stringify(storage),
        MESOCOSM_TEST_KILL_STEP: work.step,
        MESOCOSM_TEST_KILL_AT: String(work.at),
        MESOCOSM_TEST_KILL_AFTER_MS: String(work.killAfterMs),
        MESOCOSM_TEST_WORK: work.work,
        MESOCOSM_TEST_ROUND: String(work.round),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const output = { lines: '', complaints: '' };
  child.stdout.on('data', (text) => {
    output.lines += text;
  });
  child.stderr.on('data', (text) => {
    output.complaints += text;
  });
  const deadline = setTimeout(() => child.kill('SIGTERM'), DEADLINE_MS);
  const signal = await new Promise((resolve) => {
    child.on('close', (_, by) => resolve(by));
  });
  clearTimeout(deadline);
  expect(output.complaints).toBe('');
  expect(signal).toBe('SIGKILL');
  // The last line may be cut.
  return output.lines.split('\n').slice(0, -1);
}

async function readBank(storage: StorageFlags) {
  const { service, close } = await openStored(storage);
  try {
    return await (await Bank.open(service)).read();
  } finally {
    await close();
  }
}
