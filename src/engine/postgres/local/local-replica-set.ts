/**
 * PostgreSQL members on this machine, for tests and the demonstration: one alone, or a primary with three standbys of
 * which any two must have a commit. A standby is a copy of the files of the running primary, as pg_basebackup makes it.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinaries, giveTo, type PostgresBinaries } from './binaries.ts';
import { freePort, LocalMember } from './local-member.ts';

const LOCAL_USER = 'mesocosm';
const LOCAL_DATABASE = 'mesocosm';
const NAMES = ['a', 'b', 'c', 'd'] as const;
/** The name of the member that was promoted last. */
const PRIMARY_FILE = 'primary';

interface LocalSetOptions {
  /** 1, or 4 for a replica set. */
  readonly members: 1 | 4;
  /** Kept after the stop; by default a temporary folder, which is removed. */
  readonly folder?: string;
  /** Ports of the members; by default any free ones. */
  readonly ports?: readonly number[];
  /** Lines of postgresql.conf for every member. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The members are in process groups of their own. */
  readonly isDetached?: boolean;
  /** Lines of pg_hba.conf that come first. */
  readonly access?: readonly string[];
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '64MB',
  max_connections: '100',
  max_wal_senders: '10',
  wal_keep_size: '512MB',
  // Standbys tell the primary that they live; a lost one is noticed soon.
  wal_receiver_status_interval: '1s',
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
  wal_retrieve_retry_interval: '200ms',
  log_min_messages: 'warning',
  logging_collector: 'off',
};

export class LocalReplicaSet implements AsyncDisposable {
  readonly members: readonly LocalMember[];
  readonly #binaries: PostgresBinaries;
  readonly #folder: string;
  readonly #keepsFolder: boolean;
  #primary: LocalMember;

  private constructor(
    binaries: PostgresBinaries,
    members: readonly [LocalMember, ...LocalMember[]],
    folder: { readonly path: string; readonly isKept: boolean },
  ) {
    this.#binaries = binaries;
    this.members = members;
    this.#primary = members[0];
    this.#folder = folder.path;
    this.#keepsFolder = folder.isKept;
  }

  /** Throws with the reason where PostgreSQL cannot run here. */
  static async start(options: LocalSetOptions): Promise<LocalReplicaSet> {
    const binaries = await findBinaries();
    const path = options.folder ?? mkdtempSync(join(tmpdir(), 'mesocosm-members-'));
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    const isNew = !existsSync(join(path, 'a', 'PG_VERSION'));
    const members: LocalMember[] = [];
    for (const [at, name] of NAMES.slice(0, options.members).entries()) {
      const port = options.ports?.[at] ?? (await freePort());
      const folder = join(path, name);
      const { isDetached = false } = options;
      members.push(new LocalMember({ name, folder, port, binaries, user: LOCAL_USER, isDetached }));
    }
    const isKept = options.folder !== undefined;
    const [first, ...others] = members as [LocalMember, ...LocalMember[]];
    const set = new LocalReplicaSet(binaries, [first, ...others], { path, isKept });
    try {
      if (isNew) await set.#create(options);
      else await set.#restart();
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  get primary(): LocalMember {
    return this.#primary;
  }

  get standbys(): readonly LocalMember[] {
    return this.members.filter((member) => member !== this.#primary);
  }

  /** The address for `--engine`. */
  get url(): string {
    const hosts = this.members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgres://${LOCAL_USER}@${hosts}/${LOCAL_DATABASE}`;
  }

  /**
   * Makes the standby that has received most the primary, as an operator or Patroni does after the primary has died: no
   * standby follows the old one any more when the choice is made.
   */
  async promote(): Promise<LocalMember> {
    const running = this.standbys.filter(({ pid }) => pid !== undefined);
    for (const standby of running)
      await standby.query("ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
    for (const standby of running)
      await untilTrue(standby, 'SELECT NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver) AS is_true');
    const received: { readonly standby: LocalMember; readonly lsn: number }[] = [];
    for (const standby of running) {
      const text = "SELECT (pg_last_wal_receive_lsn() - '0/0')::float8 AS lsn";
      const [row] = await standby.query(text);
      received.push({ standby, lsn: Number(row?.lsn ?? 0) });
    }
    received.sort((one, other) => other.lsn - one.lsn);
    const [best] = received;
    if (best === undefined) throw new Error('no standby runs');
    // Before the promotion: the new primary must not acknowledge anything alone.
    await this.#setQuorum(best.standby);
    await best.standby.query('SELECT pg_promote(true, 30)');
    await this.#lead(best.standby);
    return best.standby;
  }

  /** A member that was the primary, or lags too far, becomes a standby by a new copy. */
  async rejoin(member: LocalMember): Promise<void> {
    await member.stop('SIGKILL');
    rmSync(member.folder, { recursive: true, force: true });
    await this.#copy(member);
    await member.start();
  }

  /** Waits until so many standbys take part in the quorum. */
  async untilStreaming(standbys: number): Promise<void> {
    await untilTrue(
      this.#primary,
      `SELECT count(*) >= ${standbys} AS is_true FROM pg_stat_replication WHERE state = 'streaming'`,
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop('SIGINT')));
    this.#binaries.dispose();
    if (!this.#keepsFolder) rmSync(this.#folder, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #create({ settings = {}, access = [] }: LocalSetOptions): Promise<void> {
    const [first] = this.members as [LocalMember];
    this.#prepareFolder(first.folder);
    const args = ['-D', first.folder, '-U', LOCAL_USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'];
    const result = spawnSync(this.#binaries.initdb, [...args, '--no-sync'], {
      ...this.#binaries.identity,
      encoding: 'utf8',
    });
    if (result.status !== 0)
      throw new Error(`initdb failed: ${result.error?.message ?? result.stderr}`);
    const lines = Object.entries({ ...SETTINGS, ...settings }).map(quoted);
    writeFileSync(join(first.folder, 'postgresql.conf'), lines.join(''));
    const trusted = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
    writeFileSync(join(first.folder, 'pg_hba.conf'), `${[...access, ...trusted].join('\n')}\n`);
    this.#own(first.folder);
    writePort(first);
    await first.start();
    await first.query(`CREATE DATABASE ${LOCAL_DATABASE}`);
    for (const standby of this.standbys) await this.#copy(standby);
    await Promise.all(this.standbys.map((standby) => standby.start()));
    await this.#lead(first);
  }

  /** Starts members whose folders exist. One that was a primary before the last one becomes a standby by a new copy. */
  async #restart(): Promise<void> {
    for (const member of this.members) writePort(member);
    const name = readFileSync(join(this.#folder, PRIMARY_FILE), 'utf8');
    const primary = this.members.find((member) => member.name === name);
    if (primary === undefined) throw new Error(`${this.#folder} has no primary`);
    this.#primary = primary;
    await primary.start();
    for (const standby of this.standbys)
      if (existsSync(join(standby.folder, 'standby.signal'))) await standby.start();
      else await this.rejoin(standby);
    await this.#lead(primary);
  }

  /** Points the others to the primary and makes it wait for any two of them. */
  async #lead(primary: LocalMember): Promise<void> {
    this.#primary = primary;
    writeFileSync(join(this.#folder, PRIMARY_FILE), primary.name);
    if (this.members.length === 1) return;
    // Without quorum the first statement would wait for ever, so that it must not be a commit.
    for (const standby of this.standbys)
      if (standby.pid !== undefined)
        await standby
          .query(
            `ALTER SYSTEM SET primary_conninfo = '${conninfo(primary, standby)}'`,
            'SELECT pg_reload_conf()',
          )
          // The old primary may be dead.
          .catch(() => undefined);
    await this.#setQuorum(primary);
  }

  /** Makes a primary, or one that becomes it, wait for any two of the others. */
  async #setQuorum(primary: LocalMember): Promise<void> {
    const others = this.members.filter((member) => member !== primary).map(({ name }) => name);
    await primary.query(
      `ALTER SYSTEM SET synchronous_standby_names = 'ANY 2 (${others.join(',')})'`,
      'SELECT pg_reload_conf()',
    );
  }

  /** Copies the files of the running primary into the folder of a standby. */
  async #copy(standby: LocalMember): Promise<void> {
    this.#prepareFolder(standby.folder);
    const client = await this.#primary.connect();
    try {
      await client.query("SELECT pg_backup_start('copy', true)");
      copyTree(this.#primary.folder, standby.folder);
      const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
      writeFileSync(join(standby.folder, 'backup_label'), String(rows[0]?.labelfile));
    } finally {
      await client.end();
    }
    copyTree(join(this.#primary.folder, 'pg_wal'), join(standby.folder, 'pg_wal'));
    writeFileSync(join(standby.folder, 'standby.signal'), '');
    const auto = [
      quoted(['primary_conninfo', conninfo(this.#primary, standby)]),
      quoted(['synchronous_standby_names', '']),
    ];
    writeFileSync(join(standby.folder, 'postgresql.auto.conf'), auto.join(''));
    writePort(standby);
    this.#own(standby.folder);
  }

  #prepareFolder(folder: string): void {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    giveTo(folder, this.#binaries.identity);
  }

  #own(folder: string): void {
    const { identity } = this.#binaries;
    if (identity === undefined) return;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      lchownSync(join(entry.parentPath, entry.name), identity.uid, identity.gid);
  }
}

function conninfo(primary: LocalMember, standby: LocalMember): string {
  return `host=127.0.0.1 port=${primary.port} user=${LOCAL_USER} application_name=${standby.name}`;
}

function quoted([name, value]: readonly [string, string]): string {
  return `${name} = '${value.replaceAll("'", "''")}'\n`;
}

/** The last line about a setting counts. */
function writePort({ folder, name, port }: LocalMember): void {
  const own = `${quoted(['port', String(port)])}${quoted(['cluster_name', name])}`;
  writeFileSync(join(folder, 'member.conf'), own);
  const path = join(folder, 'postgresql.conf');
  const text = readFileSync(path, 'utf8');
  if (!text.includes("include = 'member.conf'"))
    writeFileSync(path, `${text}include = 'member.conf'\n`);
}

/** Files vanish and change while they are copied: the log that is replayed first mends that. */
function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (LEFT_OUT.has(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (!entry.isDirectory()) copyFileSync(source, target);
      else if (!EMPTIED.has(entry.name)) copyTree(source, target);
      else mkdirSync(target, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
}

const LEFT_OUT: ReadonlySet<string> = new Set(['postmaster.pid', 'postmaster.opts', 'server.log']);
/** Folders whose contents a base backup leaves out; the log is copied after the rest. */
const EMPTIED: ReadonlySet<string> = new Set([
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  'pgsql_tmp',
  'pg_wal',
]);

async function untilTrue(member: LocalMember, text: string): Promise<void> {
  for (const deadlineMs = Date.now() + 60_000; Date.now() < deadlineMs; ) {
    const [row] = await member.query(text);
    if (row?.is_true === true) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`member ${member.name} did not reach: ${text}`);
}
