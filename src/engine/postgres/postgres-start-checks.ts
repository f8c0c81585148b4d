/**
 * What a node looks at before it takes an account: version, rights, synchronous standbys, durability, clock, and whether
 * another node is using it. Nothing is changed.
 */
import { findPrimary, reasonOf, sessionConfig } from './connect/postgres-members.ts';
import { readInt8, readText } from './connect/postgres-messages.ts';
import { parseQuorumRule, type QuorumRule } from './connect/postgres-quorum.ts';
import { PostgresSession, StatementError } from './connect/postgres-session.ts';
import type { MemberAddress, PostgresAddress } from './postgres-address.ts';
import { IN_USE, unnamed } from './postgres-statements.ts';

const VERSION_MIN = 15;
/** Any two of three standbys: a commit is on three of four members. */
const STANDBYS_MIN = 3;
const STANDBYS_NEEDED_MIN = 2;
const CLOCK_DIFFERENCE_MS_MAX = 1000;
/** The sessions of a node that was killed end within moments. */
const IN_USE_WAIT_MS = 5000;
const IN_USE_POLL_MS = 100;

interface StartCheckOptions {
  readonly address: PostgresAddress;
  /** `any`: fewer replicas are taken, with a warning. */
  readonly replicas: 'quorum' | 'any';
  /** Another node that uses the account loses it. */
  readonly takesOver: boolean;
  /** The account is read only: where there is none, none is made. */
  readonly mustExist?: boolean;
}

export interface StartFindings {
  readonly primary: string;
  readonly version: string;
  /** Such as `3 of 4`. */
  readonly quorum: string;
  readonly standbys: readonly string[];
  readonly clockDifferenceMs: number;
  readonly warnings: readonly string[];
}

/** The account cannot be used; the message says why and what to do. */
export class StartRefusal extends Error {
  override readonly name = 'StartRefusal';
}

export async function checkReplicaSet(options: StartCheckOptions): Promise<StartFindings> {
  const { address } = options;
  const { session, member } = await connect(address);
  try {
    const name = `${member.host}:${member.port}`;
    const settings = await readSettings(session);
    const { version } = settings;
    if (Number.parseInt(version, 10) < VERSION_MIN)
      throw new StartRefusal(
        `${name} is PostgreSQL ${version}; ${VERSION_MIN} or later is needed.`,
      );
    await checkRights(session, address);
    if (options.mustExist === true) await checkAccount(session, address);
    const warnings: string[] = [];
    const standbys = await readStandbys(session, options, warnings);
    const rule = parseQuorumRule(settings.names);
    const take = (problem: string | undefined): void => {
      if (problem === undefined) return;
      if (options.replicas === 'quorum')
        throw new StartRefusal(`${problem} Correct it, or start with --replicas any to take less.`);
      warnings.push(problem);
    };
    take(quorumProblem(rule, settings.names));
    take(standbysProblem(rule, standbys));
    if (settings.fsync !== 'on')
      take(
        `fsync is ${settings.fsync} on ${name}: a crash of the machine could lose acknowledged writes.`,
      );
    if (settings.fullPageWrites !== 'on')
      take(
        `full_page_writes is ${settings.fullPageWrites} on ${name}: a crash of the machine could damage pages.`,
      );
    if (Math.abs(settings.clockDifferenceMs) > CLOCK_DIFFERENCE_MS_MAX)
      warnings.push(
        `The clock of ${name} differs from this machine's by ${settings.clockDifferenceMs} ms: synchronise both.`,
      );
    if (!options.takesOver) await waitUntilFree(session, address);
    return {
      primary: name,
      version,
      quorum: `${rule.needed} of ${rule.members ?? standbys.length + 1}`,
      standbys,
      clockDifferenceMs: settings.clockDifferenceMs,
      warnings,
    };
  } catch (error) {
    if (error instanceof StatementError) throw new StartRefusal(error.message);
    throw error;
  } finally {
    await session.close();
  }
}

async function connect(
  address: PostgresAddress,
): Promise<{ readonly session: PostgresSession; readonly member: MemberAddress }> {
  try {
    const { member } = await findPrimary(address);
    return { member, session: await PostgresSession.connect(sessionConfig(address, member)) };
  } catch (error) {
    throw new StartRefusal(reasonOf(error));
  }
}

async function readSettings(session: PostgresSession) {
  const sentMs = Date.now();
  const [row = []] = await session.rows(
    unnamed(`SELECT current_setting('server_version'), current_setting('synchronous_standby_names'),
      current_setting('fsync'), current_setting('full_page_writes'),
      (1000 * extract(epoch FROM clock_timestamp()))::bigint`),
  );
  // The answer was made between sending and now.
  const clockDifferenceMs = Math.round(readInt8(row[4]) - (sentMs + Date.now()) / 2);
  return {
    version: readText(row[0]),
    names: readText(row[1]),
    fsync: readText(row[2]),
    fullPageWrites: readText(row[3]),
    clockDifferenceMs,
  };
}

async function checkRights(
  session: PostgresSession,
  { schema, user, database }: PostgresAddress,
): Promise<void> {
  const [row = []] = await session.rows(
    unnamed(`SELECT CASE WHEN to_regnamespace($1) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
      ELSE has_schema_privilege(current_user, to_regnamespace($1)::oid, 'CREATE') END::int::bigint`),
    Buffer.from(schema),
  );
  if (readInt8(row[0]) === 0)
    throw new StartRefusal(
      `user ${user} may not create tables. Run as an administrator: GRANT CREATE ON DATABASE ${database} TO ${user};`,
    );
}

async function checkAccount(
  session: PostgresSession,
  { schema, database }: PostgresAddress,
): Promise<void> {
  const [row = []] = await session.rows(
    unnamed('SELECT count(*) FROM pg_tables WHERE schemaname = $1'),
    Buffer.from(schema),
  );
  if (readInt8(row[0]) === 0)
    throw new StartRefusal(`database ${database} has no account in schema ${schema}.`);
}

/** Names of the standbys that stream, empty without the right to see them. */
async function readStandbys(
  session: PostgresSession,
  { address: { user }, replicas }: StartCheckOptions,
  warnings: string[],
): Promise<readonly string[]> {
  const [row = []] = await session.rows(
    unnamed("SELECT pg_has_role(current_user, 'pg_monitor', 'USAGE')::int::bigint"),
  );
  if (readInt8(row[0]) === 0) {
    const problem = `user ${user} may not see the standbys. Run as an administrator: GRANT pg_monitor TO ${user};`;
    if (replicas === 'quorum') throw new StartRefusal(problem);
    warnings.push(problem);
    return [];
  }
  const rows = await session.rows(
    unnamed(`SELECT application_name FROM pg_stat_replication
      WHERE state = 'streaming' AND sync_state <> 'async' ORDER BY 1`),
  );
  return rows.map(([name]) => readText(name));
}

function quorumProblem(rule: QuorumRule, names: string): string | undefined {
  const { needed, members, kind } = rule;
  const standbys = (members ?? Number.POSITIVE_INFINITY) - 1;
  if (kind !== 'none' && needed - 1 >= STANDBYS_NEEDED_MIN && standbys >= STANDBYS_MIN)
    return undefined;
  const found = kind === 'none' ? 'empty' : `'${names}'`;
  return `synchronous_standby_names is ${found}; 'ANY 2 (b, c, d)' makes a commit wait for three of four members.`;
}

function standbysProblem({ needed }: QuorumRule, standbys: readonly string[]): string | undefined {
  if (standbys.length + 1 >= needed) return undefined;
  return `A commit needs ${needed} members, and ${standbys.length + 1} are there.`;
}

async function waitUntilFree(session: PostgresSession, { schema }: PostgresAddress): Promise<void> {
  const deadlineMs = Date.now() + IN_USE_WAIT_MS;
  for (;;) {
    const [row] = await session.rows(IN_USE, Buffer.from(schema));
    if (row === undefined) return;
    if (Date.now() > deadlineMs) {
      const from = readText(row[0]) || 'this machine';
      throw new StartRefusal(
        `another node uses it, connected from ${from} since ${readText(row[1])}. Stop that node, or start with --take-over to take its data from it.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, IN_USE_POLL_MS));
  }
}
