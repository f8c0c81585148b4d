// Goal: acknowledged commits survive a crash of the process, and no batch is there in part. Method: a child commits
// numbered batches and prints the acknowledged ones; SIGKILL at a seeded time; the parent reopens the store and
// checks it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../base/index.ts';
import type { Store } from '../engine.ts';
import { sqliteEngine } from './sqlite-engine.ts';

const ROUNDS = process.env.MESOCOSM_LONG === '1' ? 60 : 5;
/** A batch has this many entries, the last of them large enough for the heap. */
const PARTS = 7;
const PART_BYTES = 3000;
const ACKNOWLEDGED_MAX = 400;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mesocosm-crash-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('a killed process', () => {
  it(`loses no acknowledged batch and leaves none in part, ${ROUNDS} rounds`, {
    timeout: 120_000 * ROUNDS,
  }, async () => {
    let written = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const random = seededRandom(round);
      const acknowledged = await runUntilKilled(written, 1 + random.below(ACKNOWLEDGED_MAX));
      const engine = sqliteEngine({ directory });
      const store = await engine.open('crash');
      const found = batches(store);
      await engine.close();
      const note = `seed ${round}`;
      expect(found.half, note).toEqual([]);
      const whole = new Set(found.whole);
      expect(
        acknowledged.filter((batch) => !whole.has(batch)),
        note,
      ).toEqual([]);
      expect(acknowledged.length, note).toBeGreaterThan(0);
      // Commits take effect in order, so the batches have no gaps.
      expect(found.whole, note).toEqual(found.whole.map((_, at) => at));
      written = found.whole.length;
    }
  });
});

/** Commits from `from` on, 16 at a time, until so many are acknowledged; returns the acknowledged numbers. */
function runUntilKilled(from: number, acknowledgedMax: number): Promise<readonly number[]> {
  const program = `
    import { sqliteEngine } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    import { writeSync } from 'node:fs';
    const engine = sqliteEngine({ directory: ${JSON.stringify(directory)} });
    const store = await engine.open('crash');
    let next = ${from};
    const client = async () => {
      for (;;) {
        const number = next++;
        const puts = Array.from({ length: ${PARTS} }, (_, part) => {
          const key = Buffer.alloc(5);
          key[0] = part;
          key.writeUInt32BE(number, 1);
          return { key, value: new Uint8Array(part === ${PARTS - 1} ? ${PART_BYTES} : part).fill(number) };
        });
        await store.commit({ puts });
        writeSync(1, number + '\\n');
      }
    };
    for (let clients = 0; clients < 16; clients++) client();`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text: string) => {
      output += text;
      if (output.split('\n').length > acknowledgedMax) child.kill('SIGKILL');
    });
    child.on('error', reject);
    // The last line may be incomplete; a number without its line break was not acknowledged.
    child.on('close', () => resolve(output.split('\n').slice(0, -1).map(Number)));
  });
}

/** The numbers of complete batches, in order, and of incomplete ones. */
function batches(store: Store): {
  readonly whole: readonly number[];
  readonly half: readonly number[];
} {
  const parts = new Map<number, number>();
  for (let part = 0; part < PARTS; part++) {
    const range = { start: Uint8Array.of(part), end: Uint8Array.of(part + 1) };
    const page = store.scan(range, { limit: 1_000_000, bytesMax: 1e12 });
    if (page instanceof Promise) throw new Error('this engine is synchronous');
    for (const { key, value } of page.entries) {
      const number = Buffer.from(key).readUInt32BE(1);
      const isWhole =
        value.length === (part === PARTS - 1 ? PART_BYTES : part) &&
        value.every((byte) => byte === number % 256);
      if (isWhole) parts.set(number, (parts.get(number) ?? 0) + 1);
    }
  }
  const numbers = [...parts.keys()].sort((a, b) => a - b);
  return {
    whole: numbers.filter((number) => parts.get(number) === PARTS),
    half: numbers.filter((number) => parts.get(number) !== PARTS),
  };
}
