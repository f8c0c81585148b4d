/**
 * Looks at the replica set once a second: which members there are, how far they are behind, whether a quorum could
 * acknowledge a commit, whether another node has taken over, and whether the primary still answers.
 */
import { DomainError } from '../../../base/index.ts';
import type { EngineReport, ReplicaReport } from '../../engine-report.ts';
import { unavailable, withDeadline } from '../postgres-failures.ts';
import { TAKE_LOCK } from '../postgres-statements.ts';
import type { PostgresInstance } from './postgres-instance.ts';
import { shortRule } from './postgres-members.ts';
import { readInt8, readText } from './postgres-messages.ts';
import { parseQuorumRule } from './postgres-quorum.ts';
import type { PostgresSession, Statement, Step } from './postgres-session.ts';

const INTERVAL_MS = 1000;
/** A primary that takes longer is given up: its sessions end, and another one is looked for. */
const ANSWER_MS_MAX = 5000;

const REPLICAS: Statement = {
  name: 'replicas',
  text: `SELECT coalesce(application_name, ''), coalesce(state, ''), coalesce(sync_state, ''),
    coalesce(1000 * extract(epoch FROM replay_lag), 0)::bigint FROM pg_stat_replication ORDER BY 1`,
};
const SETTINGS: Statement = {
  name: 'quorum_settings',
  text: `SELECT current_setting('synchronous_standby_names'), pg_is_in_recovery()::int::bigint,
    coalesce(nullif(current_setting('cluster_name'), ''), 'primary')`,
};

interface MonitorOptions {
  readonly instance: PostgresInstance;
  readonly lastLease: Statement;
  readonly lease: number;
  /** False: the settings of the members are not looked at, and nothing is refused because of them. */
  readonly checksQuorum: boolean;
  readonly onFenced: () => void;
}

export class PostgresMonitor {
  readonly #options: MonitorOptions;
  readonly #name: string;
  #report: EngineReport;
  #refusal: DomainError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  #isClosed = false;
  /** The session that tells others that the account is in use. */
  #locked: PostgresSession | undefined;

  constructor(options: MonitorOptions) {
    this.#options = options;
    const { database, schema } = options.instance.address;
    this.#name = schema === 'mesocosm' ? database : `${database}/${schema}`;
    this.#report = this.#reportOf([], { needed: 1, healthy: 0 });
  }

  get report(): EngineReport {
    return this.#report;
  }

  /** Why a commit could not be completed now. */
  get refusal(): DomainError | undefined {
    return this.#refusal ?? this.#options.instance.absence;
  }

  start(): void {
    this.#isClosed = false;
    this.#timer = setInterval(() => void this.check(), INTERVAL_MS).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#checking;
  }

  /** One look, also where the last one is still under way. Does not reject. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    const { instance } = this.#options;
    const hadSession = instance.ready('monitor') !== undefined;
    try {
      const session = await instance.session('monitor');
      const steps: Step[] = [SETTINGS, REPLICAS, this.#options.lastLease].map((statement) => ({
        statement,
        parameters: [],
      }));
      const schema = Buffer.from(instance.address.schema);
      if (session !== this.#locked) steps.push({ statement: TAKE_LOCK, parameters: [schema] });
      const late = () => new Error('The primary does not answer.');
      const { rows } = await withDeadline(session.run(steps), ANSWER_MS_MAX, late);
      if (steps.length === 3 || readInt8(rows[3]?.[0]?.[0]) === 1) this.#locked = session;
      const [names, inRecovery, primary] = rows[0]?.[0] ?? [];
      if (readInt8(inRecovery) === 1) throw new Error('The primary has become a standby.');
      if (readInt8(rows[2]?.[0]?.[0]) > this.#options.lease) this.#options.onFenced();
      this.#look(readText(primary), readText(names), rows[1] ?? []);
    } catch (error) {
      if (this.#isClosed) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#report = this.#reportOf([], { ...this.#report.quorum, healthy: 0 });
      // A session that was lost is made again by the next look; one that does not answer takes the others with it.
      if (hadSession && instance.ready('monitor') !== undefined) instance.abandon(reason);
      return;
    }
    if (this.#refusal !== undefined) await instance.switchIfPromoted();
  }

  #look(primary: string, names: string, rows: readonly (readonly (Uint8Array | null)[])[]): void {
    const rule = parseQuorumRule(names);
    let healthy = 1;
    const replicas: ReplicaReport[] = [
      { name: primary, role: 'primary', state: 'online', lagMs: 0 },
    ];
    for (const [name, state, sync, lag] of rows) {
      if (readText(state) === 'streaming' && readText(sync) !== 'async') healthy++;
      replicas.push({
        name: readText(name),
        role: 'standby',
        state: readText(state) || 'unknown',
        lagMs: readInt8(lag),
      });
    }
    const { needed } = rule;
    this.#report = this.#reportOf(replicas, { needed, healthy });
    this.#refusal = this.#options.checksQuorum ? this.#shortage(healthy, needed) : undefined;
  }

  #shortage(healthy: number, needed: number): DomainError | undefined {
    const { neededMin } = this.#options.instance;
    if (healthy < needed) return shortOf(healthy, needed);
    // Somebody has changed the setting of the primary that is in use.
    if (needed < neededMin) return unavailable(`The primary ${shortRule(needed, neededMin)}.`);
    return undefined;
  }

  #reportOf(replicas: readonly ReplicaReport[], quorum: EngineReport['quorum']): EngineReport {
    return { engine: 'postgres', instance: this.#name, replicas, quorum };
  }
}

function shortOf(healthy: number, needed: number): DomainError {
  return new DomainError(
    'unavailable',
    `Writes need ${needed} members of the replica set, and ${healthy} are there.`,
  );
}
