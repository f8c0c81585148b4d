/**
 * One connection that runs prepared statements, many at once. `pg` connects, authenticates and encrypts; after that the
 * session reads and writes the stream itself, because `pg` decodes results as text and sends lists of bytes as text.
 *
 * The steps of one call are sent with one Sync: they are one transaction unless they say otherwise, and one round trip.
 */
import type { Socket } from 'node:net';
import type pg from 'pg';
import { MessageReader, type Report, readReport, readRow } from './postgres-message-reader.ts';
import {
  bindAndExecute,
  closeMessage,
  type Parameter,
  parseMessage,
  SYNC,
} from './postgres-messages.ts';

/** A statement that each session prepares once, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Step {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
}

type Row = readonly (Uint8Array | null)[];

export interface StepsResult {
  /** Rows of each step. */
  readonly rows: readonly (readonly Row[])[];
  /** The first warning that came with the results. */
  readonly warning: Report | undefined;
}

/** The server refused a step and rolled all of them back, unless they ended a transaction before. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly report: Report;
  /** Number of the step, from 0. */
  readonly step: number;
  readonly warning: Report | undefined;

  constructor(report: Report, step: number, warning: Report | undefined) {
    super(report.message);
    this.report = report;
    this.step = step;
    this.warning = warning;
  }
}

/** The connection ended; whether the steps took effect is unknown if they were sent. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** Prepared statements of one session; the least recently used one is closed beyond that. */
const STATEMENTS_MAX = 500;
const CLOSE_MS_MAX = 2000;

interface Pending {
  readonly parsed: string[];
  readonly rows: Row[][];
  step: number;
  warning: Report | undefined;
  error: StatementError | undefined;
  readonly resolve: (result: StepsResult) => void;
  readonly reject: (error: Error) => void;
}

const CODE = {
  parseComplete: 0x31,
  dataRow: 0x44,
  commandComplete: 0x43,
  emptyQuery: 0x49,
  error: 0x45,
  notice: 0x4e,
  ready: 0x5a,
} as const;

export class PostgresSession {
  readonly #client: pg.Client;
  readonly #stream: Socket;
  readonly #pending: Pending[] = [];
  /** Names that the server has, least recently used first. */
  readonly #prepared = new Set<string>();
  #isOpen = true;
  #lostReason = 'the connection ended';
  #out: Buffer[] = [];
  readonly #onEnd: (() => void)[] = [];

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#stream = streamOf(client);
    const reader = new MessageReader((code, body) => this.#receive(code, body));
    this.#stream.removeAllListeners('data');
    this.#stream.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#stream.destroy(error as Error);
      }
    });
    client.on('error', (error) => this.#end(error.message));
    client.on('end', () => this.#end('the connection ended'));
    this.#stream.on('close', () => this.#end('the connection ended'));
  }

  /** Rejects with the error of `pg`: a code of the system, or of PostgreSQL. */
  static async connect(config: pg.ClientConfig): Promise<PostgresSession> {
    // Loaded here: a server on another engine starts without it.
    const { default: driver } = await import('pg');
    const client = new driver.Client({ ...config, keepAlive: true });
    // Errors of a connection that is being made come with the promise; later ones have a listener below.
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    return new PostgresSession(client);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Calls whose results have not come yet. */
  get pendingCount(): number {
    return this.#pending.length;
  }

  /** Called once when the connection ends, at once if it has ended. */
  onEnd(listener: () => void): void {
    if (this.#isOpen) this.#onEnd.push(listener);
    else listener();
  }

  /** One step with its rows. */
  async rows(statement: Statement, ...parameters: readonly Parameter[]): Promise<readonly Row[]> {
    const { rows } = await this.run([{ statement, parameters }]);
    return rows[0] ?? [];
  }

  /** Sends at once. Rejects with StatementError or ConnectionLostError. */
  run(steps: readonly Step[]): Promise<StepsResult> {
    if (!this.#isOpen) return Promise.reject(new ConnectionLostError(this.#lostReason));
    const parsed: string[] = [];
    for (const { statement, parameters } of steps) {
      const { name, text } = statement;
      if (this.#prepared.delete(name)) this.#prepared.add(name);
      else {
        this.#makeRoom();
        // An earlier call may be preparing it now, and may fail before it does.
        if (name !== '') this.#write(closeMessage(name));
        this.#write(parseMessage(name, text));
        parsed.push(name);
      }
      this.#write(bindAndExecute(name, parameters));
    }
    this.#write(SYNC);
    return new Promise((resolve, reject) => {
      this.#pending.push({
        parsed,
        rows: steps.map(() => []),
        step: 0,
        warning: undefined,
        error: undefined,
        resolve,
        reject,
      });
    });
  }

  /** Ends in order: waits for what was sent, but not for standbys that do not come back. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    const late = setTimeout(() => this.destroy('the connection was closed'), CLOSE_MS_MAX);
    await this.#client.end().catch(() => undefined);
    clearTimeout(late);
    this.#end('the connection was closed');
  }

  /** Ends at once. */
  destroy(reason: string): void {
    this.#end(reason);
    this.#stream.destroy();
  }

  #makeRoom(): void {
    if (this.#prepared.size < STATEMENTS_MAX) return;
    for (const oldest of this.#prepared) {
      this.#prepared.delete(oldest);
      this.#write(closeMessage(oldest));
      return;
    }
  }

  /** All messages of one turn of the event loop go out together. */
  #write(message: Buffer): void {
    if (this.#out.length === 0) queueMicrotask(() => this.#flush());
    this.#out.push(message);
  }

  #flush(): void {
    const out = this.#out;
    this.#out = [];
    if (out.length > 0 && !this.#stream.destroyed) this.#stream.write(Buffer.concat(out));
  }

  #receive(code: number, body: Buffer): void {
    const [pending] = this.#pending;
    switch (code) {
      case CODE.dataRow:
        pending?.rows[pending.step]?.push(readRow(body));
        return;
      case CODE.commandComplete:
      case CODE.emptyQuery:
        if (pending !== undefined) pending.step++;
        return;
      case CODE.parseComplete: {
        const name = pending?.parsed.shift() ?? '';
        if (name !== '') this.#prepared.add(name);
        return;
      }
      case CODE.notice: {
        const report = readReport(body);
        if (pending !== undefined && report.severity === 'WARNING') pending.warning ??= report;
        return;
      }
      case CODE.error: {
        const report = readReport(body);
        if (pending === undefined) this.#lostReason = report.message;
        else pending.error ??= new StatementError(report, pending.step, pending.warning);
        return;
      }
      case CODE.ready:
        this.#complete();
    }
  }

  #complete(): void {
    const pending = this.#pending.shift();
    if (pending === undefined) return;
    const { error, rows, warning } = pending;
    if (error === undefined) pending.resolve({ rows, warning });
    else pending.reject(error);
  }

  #end(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const [first] = this.#pending;
    // A FATAL report says why, and no ReadyForQuery follows it.
    this.#lostReason = first?.error?.message ?? reason;
    for (const { reject } of this.#pending.splice(0))
      reject(new ConnectionLostError(this.#lostReason));
    for (const listener of this.#onEnd.splice(0)) listener();
  }
}

/** The socket of a connected client; `pg` has no public name for it. */
function streamOf(client: pg.Client): Socket {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } };
  return connection.stream;
}
