/** Stores as tables of one PostgreSQL database, on one replica set. */
import { createHash } from 'node:crypto';
import { assert, type DomainError } from '../../base/index.ts';
import { checkStoreName } from '../checks.ts';
import type { Engine, Store } from '../engine.ts';
import type { EngineReport } from '../engine-report.ts';
import { PostgresInstance } from './connect/postgres-instance.ts';
import { int8, readInt8, readText } from './connect/postgres-messages.ts';
import { PostgresMonitor } from './connect/postgres-monitor.ts';
import { type PostgresSession, StatementError } from './connect/postgres-session.ts';
import type { PostgresAddress } from './postgres-address.ts';
import {
  isLost,
  LOST_TRIES_MAX,
  MEMBER_WAIT_MS,
  REFUSED_POLL_MS,
  readFailure,
  unavailable,
  withDeadline,
} from './postgres-failures.ts';
import { prepareSchema, takeAccount } from './postgres-schema.ts';
import { accountStatements, createTable, unnamed } from './postgres-statements.ts';
import { PostgresStore } from './postgres-store.ts';
import { ReadTransactions } from './read/postgres-read-transactions.ts';
import { type Opened, PostgresFence } from './write/postgres-fence.ts';

interface PostgresEngineOptions {
  readonly address: PostgresAddress;
  /** False: writes are sent whatever the members' settings ask for. */
  readonly checksQuorum?: boolean;
  /** Called once when another node has taken over: this one can no longer write. */
  readonly onFenced?: () => void;
}

export interface PostgresEngine extends Engine {
  /** Members, lag and quorum as of the last second. */
  report(): EngineReport;
}

/** Openings at once; each waits for the quorum. They have sessions of their own, since one that waits too long is ended. */
const OPEN_SESSIONS = 4;
const LOCK_TIMEOUT = unnamed("SET lock_timeout = '3s'");

/** Rejects with the errors of sessions, `unavailable` and FormatError. The account belongs to this engine from now on. */
export async function openPostgresEngine(options: PostgresEngineOptions): Promise<PostgresEngine> {
  const instance = new PostgresInstance(options.address);
  try {
    await instance.findNow(options.checksQuorum ?? true);
    const session = await instance.session('control');
    const { schema } = options.address;
    await prepareSchema(session, schema);
    const lease = await withDeadline(takeAccount(session, schema), MEMBER_WAIT_MS, () =>
      unavailable('PostgreSQL does not acknowledge writes: too few standbys are there.'),
    );
    const engine = new Postgres(options, instance, lease);
    await engine.start();
    return engine;
  } catch (error) {
    instance.abandon('the start failed');
    await instance.close();
    throw error;
  }
}

class Postgres implements PostgresEngine {
  readonly #instance: PostgresInstance;
  readonly #transactions: ReadTransactions;
  readonly #monitor: PostgresMonitor;
  readonly #statements: ReturnType<typeof accountStatements>;
  readonly #lease: number;
  readonly #stores = new Map<string, PostgresStore>();
  /** Names of stores that are open, or being opened or dropped. */
  readonly #taken = new Set<string>();
  /** Stores with a commit that may have been applied without the quorum: nothing is read before a new fence. */
  readonly #unsettled = new Set<string>();
  readonly #opening = new Set<Promise<Store>>();
  readonly #onFenced: () => void;
  #isFenced = false;
  #isClosed = false;

  constructor(options: PostgresEngineOptions, instance: PostgresInstance, lease: number) {
    this.#instance = instance;
    this.#lease = lease;
    this.#statements = accountStatements(options.address.schema);
    this.#transactions = new ReadTransactions(instance);
    this.#onFenced = () => {
      if (this.#isFenced || this.#isClosed) return;
      this.#isFenced = true;
      options.onFenced?.();
    };
    this.#monitor = new PostgresMonitor({
      instance,
      lastLease: this.#statements.lastLease,
      lease,
      checksQuorum: options.checksQuorum ?? true,
      onFenced: this.#onFenced,
    });
  }

  async start(): Promise<void> {
    await this.#monitor.check();
    this.#monitor.start();
    await this.#dropLeftTables();
  }

  report(): EngineReport {
    return this.#monitor.report;
  }

  open(name: string): Promise<Store> {
    const opening = this.#openOnce(name);
    this.#opening.add(opening);
    const forget = () => this.#opening.delete(opening);
    opening.then(forget, forget);
    return opening;
  }

  async #openOnce(name: string): Promise<Store> {
    checkStoreName(name);
    assert(!this.#taken.has(name), `store ${name} is already open`);
    this.#taken.add(name);
    if (this.#isClosed) this.#monitor.start();
    this.#isClosed = false;
    try {
      const opened = await this.#openRow(name, !this.#unsettled.has(name));
      const fence = new PostgresFence({
        opened,
        reopen: () => this.#openRow(name, false),
        isTaken: () => this.#isFenced,
        onTaken: this.#onFenced,
      });
      const store: PostgresStore = new PostgresStore({
        name,
        fence,
        instance: this.#instance,
        transactions: this.#transactions,
        refusal: () => this.#monitor.refusal,
        onClose: (isSettled) => {
          if (isSettled) this.#unsettled.delete(name);
          else this.#unsettled.add(name);
          this.#stores.delete(name);
          this.#taken.delete(name);
        },
      });
      this.#stores.set(name, store);
      return store;
    } catch (error) {
      this.#taken.delete(name);
      throw error;
    }
  }

  async list(): Promise<readonly string[]> {
    const rows = await this.#control((session) => session.rows(this.#statements.list));
    return rows.map(([name]) => readText(name)).sort();
  }

  async drop(name: string): Promise<void> {
    checkStoreName(name);
    assert(!this.#taken.has(name), `store ${name} is open and cannot be dropped`);
    this.#taken.add(name);
    try {
      const parameters = [Buffer.from(name), int8(this.#lease)];
      const [row] = await this.#control((session) =>
        session.rows(this.#statements.remove, ...parameters),
      );
      if (row !== undefined) await this.#dropTable(readInt8(row[0]));
    } finally {
      this.#taken.delete(name);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#stores.values()].map((store) => store.close()));
    await this.#monitor.close();
    await this.#instance.close();
  }

  /**
   * Opens or creates. Sent again where the session was lost: another fence does no harm. Without the quorum there is no
   * new fence. A store whose commits were all acknowledged or refused is then opened as it is, for reads: since this
   * node took it, nobody else has written it.
   */
  async #openRow(name: string, mayBeForReads: boolean): Promise<Opened> {
    const deadlineMs = performance.now() + MEMBER_WAIT_MS;
    const number = createHash('sha256').update(name).digest().readUInt16BE(0) % OPEN_SESSIONS;
    for (;;)
      try {
        const refusal: DomainError | undefined = this.#monitor.refusal;
        if (refusal !== undefined) {
          const opened = mayBeForReads ? await this.#openForReads(name) : undefined;
          if (opened === undefined) throw refusal;
          return opened;
        }
        const session = await this.#instance.session(`open${number}`);
        const leftMs = Math.max(1, deadlineMs - performance.now());
        const opened = await this.#openUnlessRefused(session, name, leftMs);
        if (opened !== undefined) return opened;
      } catch (error) {
        if (!isLost(error) || performance.now() > deadlineMs) throw readFailure(error);
      }
  }

  /** Undefined where the quorum is missing meanwhile: the opening waits on, before all others of its session. */
  #openUnlessRefused(
    session: PostgresSession,
    name: string,
    leftMs: number,
  ): Promise<Opened | undefined> {
    const opening = this.#openOn(session, name);
    opening.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const refused = new Promise<undefined>((resolve) => {
      timer = setInterval(() => {
        if (this.#monitor.refusal !== undefined) resolve(undefined);
      }, REFUSED_POLL_MS);
    });
    return withDeadline(Promise.race([opening, refused]), leftMs, () => {
      session.destroy('the opening of a store was not acknowledged');
      return unavailable(`Store ${name} cannot be opened: the quorum does not acknowledge it.`);
    }).finally(() => clearInterval(timer));
  }

  /** Undefined where there is no such store, or another node has it. */
  async #openForReads(name: string): Promise<Opened | undefined> {
    const session = await this.#instance.session('open-for-reads');
    const parameters = [Buffer.from(name), int8(this.#lease)];
    const [row] = await session.rows(this.#statements.openForReads, ...parameters);
    if (row === undefined) return undefined;
    return { id: readInt8(row[0]), fence: readInt8(row[1]), isForReads: true };
  }

  async #openOn(session: PostgresSession, name: string): Promise<Opened> {
    const parameters = [Buffer.from(name), int8(this.#lease)];
    const opened = await session.run([{ statement: this.#statements.open, parameters }]);
    const row = opened.rows[0]?.[0];
    if (opened.warning !== undefined) throw unavailable(opened.warning.message);
    if (row !== undefined) return { id: readInt8(row[0]), fence: readInt8(row[1]) };
    const [other] = await session.rows(this.#statements.isOwned, ...parameters);
    if (other !== undefined) {
      this.#onFenced();
      throw unavailable(`Another node has taken over store ${name}.`);
    }
    return this.#create(session, name);
  }

  /** One transaction of one round trip: other openings use the same session meanwhile. */
  async #create(session: PostgresSession, name: string): Promise<Opened> {
    const { schema } = this.#instance.address;
    const [row] = await session.rows(this.#statements.newId);
    const id = readInt8(row?.[0]);
    const parameters = [int8(id), Buffer.from(name), int8(this.#lease)];
    const { warning } = await session.run([
      { statement: this.#statements.add, parameters },
      ...createTable(schema, id).map((text) => ({ statement: unnamed(text), parameters: [] })),
    ]);
    if (warning !== undefined) throw unavailable(warning.message);
    return { id, fence: 1 };
  }

  /** A reader of another node may hold the table for a while: then the next start drops it. */
  async #dropTable(id: number): Promise<void> {
    const { schema } = this.#instance.address;
    try {
      await this.#control((session) =>
        session.run([
          { statement: LOCK_TIMEOUT, parameters: [] },
          { statement: unnamed(`DROP TABLE IF EXISTS ${schema}.p${id}`), parameters: [] },
        ]),
      );
    } catch (error) {
      const isBusy = error instanceof StatementError && error.report.code === '55P03';
      if (!isBusy) throw readFailure(error);
    }
  }

  async #dropLeftTables(): Promise<void> {
    const rows = await this.#control((session) => session.rows(this.#statements.leftTables));
    for (const [id] of rows) await this.#dropTable(readInt8(id));
  }

  /** Runs something that may be done twice on the session for it, again where that was lost. */
  async #control<T>(run: (session: PostgresSession) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const session = await this.#instance.session('control');
      try {
        return await run(session);
      } catch (error) {
        if (isLost(error) && tries < LOST_TRIES_MAX) continue;
        throw error instanceof StatementError ? error : readFailure(error);
      }
    }
  }
}
