// Goal: full disks, dead threads and many snapshots lead to refusals or waits, never to a crash, and closed stores
// are one file. Method: the real engine on a temporary folder; a full disk is a bound on the file, a dead thread
// another script.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DomainError, isPromise, type MaybePromise, textToBytes } from '../../base/index.ts';
import { ConflictError, type Engine, FormatError, type Snapshot } from '../engine.ts';
import { sqliteEngine } from './sqlite-engine.ts';
import { SqliteWriters } from './write/sqlite-writers.ts';

const MIB = 1024 * 1024;
let directory: string;
let engine: Engine;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mesocosm-failures-'));
  engine = sqliteEngine({ directory });
});
afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true });
});

const put = (key: string, bytes: number) => ({
  puts: [{ key: textToBytes(key), value: new Uint8Array(bytes).fill(1) }],
});

describe('a full disk', () => {
  beforeEach(() => {
    engine = sqliteEngine({ directory, storeBytesMax: MIB });
  });

  it('refuses the commit that does not fit, and the store continues', async () => {
    const store = await engine.open('a');
    await store.commit(put('small', 100));
    await expect(store.commit(put('large', 2 * MIB))).rejects.toMatchObject({
      name: 'DomainError',
      code: 'unavailable',
      message: 'store a: database or disk is full',
    });
    await store.commit(put('other', 100));
    expect(store.get(textToBytes('large'))).toBeUndefined();
    expect(store.get(textToBytes('small'))).toHaveLength(100);
    expect(store.get(textToBytes('other'))).toHaveLength(100);
  });

  it('refuses the whole group', async () => {
    const store = await engine.open('a');
    const outcomes = await Promise.allSettled([
      store.commit(put('before', 100)),
      store.commit(put('large', 2 * MIB)),
      store.commit(put('after', 100)),
    ]);
    for (const [at, key] of ['before', 'large', 'after'].entries())
      expect(store.get(textToBytes(key)) !== undefined).toBe(outcomes[at]?.status === 'fulfilled');
    expect(outcomes[1]?.status).toBe('rejected');
  });
});

describe('a file that is not ours', () => {
  it('is refused by name, and the engine continues', async () => {
    writeFileSync(join(directory, 'bad.sqlite'), 'not a database at all');
    await expect(engine.open('bad')).rejects.toThrow(FormatError);
    await expect(engine.open('bad')).rejects.toThrow(/bad\.sqlite is not a SQLite database/);
    const good = await engine.open('good');
    await good.commit(put('a', 1));
  });
});

describe('a dead writer thread', () => {
  const script = (onCommit: string) =>
    new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from 'node:worker_threads';
        parentPort.on('message', ({ kind, store }) => {
          if (kind === 'open') parentPort.postMessage({ kind: 'opened', store });
          if (kind === 'commit') { ${onCommit} }
        });`)}`,
    );
  for (const [way, onCommit, reason] of [
    ['ended', 'process.exit(3)', 'exit code 3'],
    ['threw', 'throw new Error("no such luck")', 'no such luck'],
  ] as const)
    it(`has its pending and later commits refused: it ${way}`, async () => {
      const writers = new SqliteWriters({ threads: 1, writerScript: script(onCommit) });
      const settings = { path: join(directory, 'a.sqlite'), root: directory, bytesMax: undefined };
      const store = await writers.open('a', settings);
      const other = await writers.open('b', settings);
      const expected = `store a: its writer thread ended: ${reason}`;
      const pending = [store.commit(put('a', 1)), store.commit(put('b', 1))];
      for (const commit of pending)
        await expect(commit).rejects.toThrow(new DomainError('outcomeUnknown', expected));
      await expect(store.commit(put('c', 1))).rejects.toThrow(expected);
      await expect(other.commit(put('c', 1))).rejects.toThrow('store b: its writer thread ended');
      await store.close();
      await other.close();
      const again = await writers.open('a', settings);
      await expect(again.commit(put('d', 1))).rejects.toThrow(expected);
      await writers.close();
    });
});

describe('snapshots', () => {
  it('beyond the bound wait, first come first served', async () => {
    const store = await engine.open('a');
    const taken: Snapshot[] = [];
    let next = store.snapshot();
    while (!isPromise(next)) {
      taken.push(next);
      await store.commit(put('a', 1));
      next = store.snapshot();
    }
    expect(taken).toHaveLength(8);
    const order: string[] = [];
    const noted = async (name: string, asked: MaybePromise<Snapshot>) => {
      const snapshot = await asked;
      order.push(name);
      return snapshot;
    };
    const first = noted('first', next);
    const second = noted('second', store.snapshot());
    await store.commit(put('a', 2));
    taken[3]?.release();
    const granted = await first;
    expect(await granted.get(textToBytes('a'))).toHaveLength(2);
    granted.release();
    (await second).release();
    expect(order).toEqual(['first', 'second']);
    for (const snapshot of taken) snapshot.release();
  });

  it('of one state are unlimited in number', async () => {
    const store = await engine.open('a');
    await store.commit(put('a', 1));
    const early = Array.from({ length: 100 }, () => store.snapshot() as Snapshot);
    await store.commit(put('a', 2));
    const late = Array.from({ length: 100 }, () => store.snapshot() as Snapshot);
    for (const [snapshots, length] of [[early, 1] as const, [late, 2] as const])
      for (const snapshot of snapshots) {
        expect(snapshot.get(textToBytes('a'))).toHaveLength(length);
        snapshot.release();
      }
  });

  it('and reads that ended do not delay the log', async () => {
    const store = await engine.open('a');
    for (let round = 1; round <= 3; round++) {
      await store.commit(put('a', round));
      expect(store.get(textToBytes('a'))).toHaveLength(round);
      const snapshot = await store.snapshot();
      expect(await snapshot.get(textToBytes('a'))).toHaveLength(round);
      snapshot.release();
    }
    // A reader of an older state would prevent a complete checkpoint.
    await store.commit(put('a', 4));
    const log = new DatabaseSync(join(directory, 'a.sqlite'), { readOnly: false });
    const { busy } = log.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    log.close();
    expect(busy).toBe(0);
  });

  it('are refused to waiting callers when the store closes', async () => {
    const store = await engine.open('a');
    for (let count = 0; count < 8; count++) {
      store.snapshot();
      await store.commit(put('a', 1));
    }
    const refused = expect(store.snapshot()).rejects.toMatchObject({ code: 'unavailable' });
    await store.close();
    await refused;
  });
});

describe('files', () => {
  it('are one per store when it is closed, and none when it is dropped', async () => {
    const store = await engine.open('deep/er/a');
    await store.commit(put('a', 5 * MIB - 2 * MIB));
    expect(existsSync(join(directory, 'deep/er/a.sqlite-wal'))).toBe(true);
    await store.close();
    expect(readdirSync(join(directory, 'deep/er'))).toEqual(['a.sqlite']);
    await engine.drop('deep/er/a');
    expect(readdirSync(join(directory, 'deep/er'))).toEqual([]);
  });

  it('give back the space of large values that are overwritten or deleted', async () => {
    const store = await engine.open('a');
    for (let round = 0; round < 5; round++) {
      await store.commit(put('a', MIB));
      await store.commit(round % 2 === 0 ? put('a', 1) : { deletes: [textToBytes('a')] });
    }
    await store.close();
    expect(statSync(join(directory, 'a.sqlite')).size).toBeLessThan(1.2 * MIB);
  });

  // Writes 240 MB, which takes longer than the default timeout on a busy disk.
  it('have a log that does not grow without bound', async () => {
    const store = await engine.open('a');
    let largest = 0;
    for (let round = 0; round < 60; round++) {
      const commits = Array.from({ length: 4 }, (_, at) =>
        store.commit(put(`k${at}`, MIB - round)),
      );
      await Promise.all(commits);
      largest = Math.max(largest, statSync(join(directory, 'a.sqlite-wal')).size);
    }
    expect(largest).toBeLessThan(96 * MIB);
  });
});

describe('stats', () => {
  it('count the stored entries, neither the log nor free pages', async () => {
    const store = await engine.open('a');
    for (let round = 0; round < 8; round++) await store.commit(put('a', MIB + round));
    const full = (await store.stats()).bytesUsed;
    expect(full).toBeGreaterThan(MIB);
    expect(full).toBeLessThan(1.1 * MIB);
    await store.commit({ deletes: [textToBytes('a')] });
    expect((await store.stats()).bytesUsed).toBeLessThan(0.1 * MIB);
  });
});

describe('closing the engine', () => {
  it('waits for a store that is being opened', async () => {
    const opening = engine.open('a');
    await engine.close();
    const store = await opening;
    expect(() => store.get(textToBytes('a'))).toThrow('Store a was closed.');
    expect(readdirSync(directory)).toEqual(['a.sqlite']);
  });
});

describe('conflicts', () => {
  it('affect no other commit of their group', async () => {
    const store = await engine.open('a');
    const expects = [{ key: textToBytes('a'), value: undefined }];
    const commits = Array.from({ length: 20 }, (_, at) =>
      store.commit(at % 2 === 0 ? put(`k${at}`, 1) : { expects, ...put('a', at) }),
    );
    const outcomes = await Promise.allSettled(commits);
    const refused = outcomes.flatMap((outcome, at) => (outcome.status === 'rejected' ? [at] : []));
    expect(refused).toEqual([3, 5, 7, 9, 11, 13, 15, 17, 19]);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(ConflictError);
    expect(store.get(textToBytes('a'))).toHaveLength(1);
  });
});

describe('the process', () => {
  it('lives until a pending commit is done, and not longer for an open store', () => {
    const program = `
      import { sqliteEngine } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
      const engine = sqliteEngine({ directory: ${JSON.stringify(directory)} });
      const store = await engine.open('a');
      const key = Uint8Array.of(1);
      const commit = () => store.commit({ puts: [{ key, value: new Uint8Array(3e6) }] });
      // Messages of several event loop turns that become one group, and one message that becomes several groups.
      let last;
      for (let turn = 0; turn < 5; turn++) {
        for (let count = 0; count < 5; count++) last = commit();
        await new Promise((resolve) => setImmediate(resolve));
      }
      last.then(() => console.log('committed'));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(output).toBe('committed\n');
  });
});
