// Goal: a commit is promised only where it is certain, in both directions. Method: a real member; sessions are cancelled
// and ended while they wait for a standby that does not exist, statements fail as on a full disk, and an old owner's
// commits are slowed down while a new one opens the store.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { DomainError, textToBytes } from '../../base/index.ts';
import type { Store } from '../engine.ts';
import { put, read } from '../test-kit.ts';
import { LocalReplicaSet } from './local/local-replica-set.ts';
import { reportMissing } from './local/test-member.ts';
import { type PostgresAddress, parsePostgresAddress } from './postgres-address.ts';
import { openPostgresEngine, type PostgresEngine } from './postgres-engine.ts';

/** How a session is disturbed. */
const ENDS = [
  ['cancelled', 'pg_cancel_backend'],
  ['ended', 'pg_terminate_backend'],
] as const;

const RACES = process.env.MESOCOSM_LONG === '1' ? 60 : 10;

const started = await LocalReplicaSet.start({ members: 1, settings: { fsync: 'off' } }).catch(
  (error: unknown) => error as Error,
);
if (started instanceof Error) reportMissing(started);
else withMember(started);

function withMember(set: LocalReplicaSet): void {
  const engines: PostgresEngine[] = [];
  let schemas = 0;
  afterEach(async () => {
    await waitForStandby(false);
    for (const engine of engines.splice(0)) await engine.close();
  });
  afterAll(() => set.stop());

  const query = async (...texts: readonly string[]) => {
    const client = await set.primary.connect('mesocosm');
    try {
      let rows: Record<string, unknown>[] = [];
      for (const text of texts) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  };
  /** Commits wait for a standby that does not exist, from now on or no more. */
  const waitForStandby = (isOn: boolean) =>
    query(
      `ALTER SYSTEM SET synchronous_standby_names = '${isOn ? 'nobody' : ''}'`,
      'SELECT pg_reload_conf()',
    );
  const newAddress = (): PostgresAddress => {
    const address = parsePostgresAddress(`${set.url}?schema=failures_${++schemas}`);
    if (typeof address === 'string') throw new Error(address);
    return address;
  };
  const open = async (address: PostgresAddress, onFenced = () => {}): Promise<PostgresEngine> => {
    const engine = await openPostgresEngine({ address, checksQuorum: false, onFenced });
    engines.push(engine);
    return engine;
  };
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: unknown) => (error instanceof DomainError ? error.code : error),
    );
  /** Commits until one waits for a standby: sessions hear of the setting after a while. */
  const commitThatWaits = async (
    commit: () => Promise<unknown>,
  ): Promise<{ readonly pid: number; readonly outcome: Promise<unknown> }> => {
    for (;;) {
      let isDone = false;
      const outcome = codeOf(commit()).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        const rows = await query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        if (rows[0] !== undefined) return { pid: Number(rows[0].pid), outcome };
      }
    }
  };

  describe('a commit that waits for standbys', () => {
    for (const [how, end] of ENDS)
      it(`is written once more, with those behind it, where its session is ${how}`, async () => {
        const engine = await open(newAddress());
        const store = await engine.open('s');
        await put(store, ['a', '1']);
        await waitForStandby(true);
        const { pid, outcome } = await commitThatWaits(() => put(store, ['a', '2']));
        const behind = codeOf(put(store, ['a', '3']));
        await query(`SELECT ${end}(${pid})`);
        const later = codeOf(put(store, ['b', '4']));
        await waitForStandby(false);
        expect(await Promise.all([outcome, behind, later])).toEqual(['done', 'done', 'done']);
        expect([await read(store, 'a'), await read(store, 'b')]).toEqual(['3', '4']);
      });

    it('has an unknown outcome where it expects something, and those behind it are written', async () => {
      const engine = await open(newAddress());
      const store = await engine.open('s');
      await put(store, ['a', '1']);
      await waitForStandby(true);
      const { pid, outcome } = await commitThatWaits(() =>
        store.commit({
          expects: [{ key: textToBytes('x'), value: undefined }],
          puts: [{ key: textToBytes('a'), value: textToBytes('2') }],
        }),
      );
      const behind = codeOf(put(store, ['b', '3']));
      await query(`SELECT pg_terminate_backend(${pid})`);
      expect(await outcome).toBe('outcomeUnknown');
      await waitForStandby(false);
      expect(await behind).toBe('done');
      expect(['1', '2']).toContain(await read(store, 'a'));
      expect(await read(store, 'b')).toBe('3');
    });

    it('has an unknown outcome where another node takes the store meanwhile', async () => {
      const address = newAddress();
      const store = await (await open(address)).open('s');
      await put(store, ['a', '1']);
      await waitForStandby(true);
      const { pid, outcome } = await commitThatWaits(() => put(store, ['a', '2']));
      await query(`SELECT pg_terminate_backend(${pid})`);
      await waitForStandby(false);
      const taken = await (await open(address)).open('s');
      expect(['done', 'outcomeUnknown']).toContain(await outcome);
      expect(['1', '2']).toContain(await read(taken, 'a'));
    });

    it('has an unknown outcome where its store is closed, which reads nothing before a new fence', async () => {
      const engine = await open(newAddress());
      const store = await engine.open('s');
      await put(store, ['a', '1']);
      await waitForStandby(true);
      const { pid, outcome } = await commitThatWaits(() => put(store, ['a', '2']));
      const closed = store.close();
      await query(`SELECT pg_terminate_backend(${pid})`);
      expect(await outcome).toBe('outcomeUnknown');
      await closed;
      await waitForStandby(false);
      expect(['1', '2']).toContain(await read(await engine.open('s'), 'a'));
    });
  });

  for (const [how, end] of ENDS)
    it(`commits in flight together keep their order where sessions are ${how}, ${RACES} times`, async () => {
      const engine = await open(newAddress());
      const store = await engine.open('s');
      let version = 0;
      let [isRacing, lastSeen] = [true, 0];
      const backwards: string[] = [];
      const watch = async () => {
        while (isRacing) {
          const seen = Number((await read(store, 'k')) ?? 0);
          if (seen < lastSeen) backwards.push(`${seen} after ${lastSeen}`);
          lastSeen = seen;
        }
      };
      const watching = watch();
      for (let race = 0; race < RACES; race++) {
        let acknowledged = 0;
        const commits: Promise<void>[] = [];
        const ended = (async () => {
          await new Promise((resolve) => setTimeout(resolve, race % 10));
          await query(
            `SELECT ${end}(pid) FROM pg_stat_activity WHERE application_name = 'mesocosm' AND query LIKE '%INSERT%'`,
          );
        })();
        for (let count = 0; count < 200; count++) {
          const own = ++version;
          const note = () => {
            acknowledged = Math.max(acknowledged, own);
          };
          // A refusal, as of a cancelled statement, is an answer too.
          commits.push(put(store, ['k', String(own)]).then(note, () => undefined));
          if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        await Promise.all(commits);
        await ended;
        const found = Number(await read(store, 'k'));
        expect(found, `race ${race}`).toBe(acknowledged);
      }
      isRacing = false;
      await watching;
      expect(backwards).toEqual([]);
    });

  it('a statement that fails as on a full disk changes nothing, says why, and the store goes on', async () => {
    const address = newAddress();
    const engine = await open(address);
    const store = await engine.open('s');
    await put(store, ['a', '1']);
    const table = await tableOf(query, address);
    await query(
      `CREATE FUNCTION ${address.schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
      `CREATE TRIGGER fill BEFORE INSERT ON ${table} EXECUTE FUNCTION ${address.schema}.fill()`,
    );
    await expect(put(store, ['a', '2'])).rejects.toMatchObject({
      code: 'unavailable',
      message:
        'PostgreSQL refused a statement: could not extend file: No space left on device (SQLSTATE 53100)',
    });
    expect(await read(store, 'a')).toBe('1');
    await query(`DROP TRIGGER fill ON ${table}`);
    await put(store, ['a', '2']);
    expect(await read(store, 'a')).toBe('2');
  });

  it('reads go on where their session was ended', async () => {
    const engine = await open(newAddress());
    const store = await engine.open('s');
    await put(store, ['a', '1']);
    expect(await read(store, 'a')).toBe('1');
    await query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mesocosm'",
    );
    expect(await read(store, 'a')).toBe('1');
    await put(store, ['a', '2']);
    expect(await read(store, 'a')).toBe('2');
  });

  it('an engine that has lost its stores to another cannot write, open or drop', async () => {
    const address = newAddress();
    let fenced = 0;
    const old = await open(address, () => fenced++);
    const store = await old.open('s');
    const other = await old.open('t');
    await put(store, ['a', '1']);
    const next = await open(address);
    const taken = await next.open('s');
    expect(await codeOf(put(store, ['a', '2']))).toBe('unavailable');
    expect(
      await codeOf(other.commit({ deleteRanges: [{ start: textToBytes('a'), end: undefined }] })),
    ).toBe('unavailable');
    await other.close();
    expect(await codeOf(old.open('t'))).toBe('unavailable');
    await old.drop('t');
    expect(await next.list()).toEqual(['s', 't']);
    expect(fenced).toBe(1);
    expect(await read(taken, 'a')).toBe('1');
  });

  it(`no commit of an old owner lands behind an opening, ${RACES} races`, async () => {
    const address = newAddress();
    let [old, opened] = await openSlow(address);
    for (let race = 0; race < RACES; race++) {
      const before = await read(opened, 'k');
      const late = codeOf(put(opened, ['k', `late ${race}`]));
      // The commit has passed the fence, or is about to, when the opening comes.
      await new Promise((resolve) => setTimeout(resolve, (race % 10) * 4));
      const next = await open(address);
      const taken = await next.open('s');
      const seen = await read(taken, 'k');
      const outcome = await late;
      expect([before, `late ${race}`], `race ${race}`).toContain(seen);
      // Acknowledged or not, what the new owner has read stays.
      if (outcome === 'done') expect(seen, `race ${race}`).toBe(`late ${race}`);
      expect(await read(taken, 'k'), `race ${race}`).toBe(seen);
      await old.close();
      [old, opened] = [next, taken];
    }
  });

  /** Every insert takes 20 ms after the fence was checked. */
  async function openSlow(address: PostgresAddress): Promise<[PostgresEngine, Store]> {
    const engine = await open(address);
    const store = await engine.open('s');
    await put(store, ['k', 'first']);
    const table = await tableOf(query, address);
    await query(
      `CREATE FUNCTION ${address.schema}.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(0.02); RETURN NEW; END $$`,
      `CREATE TRIGGER slow BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${address.schema}.slow()`,
    );
    return [engine, store];
  }
}

async function tableOf(
  query: (...texts: readonly string[]) => Promise<readonly Record<string, unknown>[]>,
  { schema }: PostgresAddress,
): Promise<string> {
  const [row] = await query(`SELECT id FROM ${schema}.stores WHERE name = 's'`);
  return `${schema}.p${row?.id}`;
}
