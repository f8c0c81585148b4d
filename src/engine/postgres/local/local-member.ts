/** One PostgreSQL member on this machine: a data folder and the process that serves it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type pg from 'pg';
import type { PostgresBinaries } from './binaries.ts';

const START_MS_MAX = 60_000;
const START_POLL_MS = 20;

interface LocalMemberOptions {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly binaries: PostgresBinaries;
  readonly user: string;
  /** In a process group of its own, which Ctrl-C does not reach. */
  readonly isDetached?: boolean;
}

export class LocalMember {
  readonly name: string;
  readonly port: number;
  readonly folder: string;
  readonly #options: LocalMemberOptions;
  /** Called when the process has ended, wanted or not. */
  onExit: (() => void) | undefined;
  #process: ChildProcess | undefined;
  #exit: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: LocalMemberOptions) {
    this.#options = options;
    this.name = options.name;
    this.port = options.port;
    this.folder = options.folder;
  }

  /** Resolves when the member accepts connections. Throws with the end of its log where it does not start. */
  async start(): Promise<void> {
    const { binaries, folder } = this.#options;
    rmSync(join(folder, 'postmaster.pid'), { force: true });
    const child = spawn(binaries.postgres, ['-D', folder], {
      ...binaries.identity,
      cwd: folder,
      detached: this.#options.isDetached ?? false,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    });
    this.#process = child;
    const log = join(folder, 'server.log');
    child.stderr?.on('data', (chunk) => {
      // A folder that is removed while its member ends has no place for the rest.
      try {
        appendFileSync(log, chunk);
      } catch {}
    });
    let hasEnded = false;
    this.#exit = new Promise((resolve) => {
      const end = () => {
        hasEnded = true;
        resolve();
      };
      child.once('exit', end);
      child.once('exit', () => this.onExit?.());
      child.once('error', end);
    });
    for (const deadlineMs = Date.now() + START_MS_MAX; ; ) {
      if (await this.#accepts()) return;
      if (hasEnded || Date.now() > deadlineMs)
        throw new Error(`PostgreSQL member ${this.name} does not start: ${this.#logEnd()}`);
      await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
    }
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** SIGINT is a fast shutdown, SIGQUIT an immediate one, SIGKILL of the first process ends the others with it. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    this.#isStopping = true;
    this.signal('SIGCONT');
    this.signal(signal);
    await this.#exit;
    this.#process = undefined;
    this.#isStopping = false;
  }

  /** True while it is being stopped on purpose. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Its process has ended by itself. */
  forgetProcess(): void {
    this.#process = undefined;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Runs statements as the owner of the member, one after the other; returns the rows of the last one. */
  async query(...texts: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const client = await this.connect();
    try {
      let rows: readonly Readonly<Record<string, unknown>>[] = [];
      for (const text of texts) ({ rows } = await client.query(text));
      return rows;
    } finally {
      await client.end();
    }
  }

  /** A connection as the owner; the caller ends it. */
  async connect(database = 'postgres'): Promise<pg.Client> {
    const { user } = this.#options;
    const address = { host: '127.0.0.1', port: this.port, user, database };
    const { default: driver } = await import('pg');
    const client = new driver.Client({ ...address, connectionTimeoutMillis: 5000 });
    // A member that is killed resets its connections.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async #accepts(): Promise<boolean> {
    try {
      await this.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  #logEnd(): string {
    try {
      return readFileSync(join(this.folder, 'server.log'), 'utf8').trim().slice(-1000);
    } catch {
      return 'it wrote no log';
    }
  }
}

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
