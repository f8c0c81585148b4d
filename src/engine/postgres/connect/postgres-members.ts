/** Which member takes writes: all of them are asked at once. */
import type { ClientConfig } from 'pg';
import type { MemberAddress, PostgresAddress } from '../postgres-address.ts';
import { unnamed } from '../postgres-statements.ts';
import { readInt8, readText } from './postgres-messages.ts';
import { parseQuorumRule } from './postgres-quorum.ts';
import { PostgresSession } from './postgres-session.ts';

const CONNECT_MS_MAX = 3000;

/** A primary knows its timeline, which grows with every promotion; 0 is a standby. */
const ROLE = unnamed(
  `SELECT CASE WHEN pg_is_in_recovery() THEN 0
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END,
    current_setting('synchronous_standby_names')`,
);

export interface FoundMember {
  readonly member: MemberAddress;
  /** Greater after every promotion. */
  readonly timeline: number;
  /** Members that must have a commit, the primary among them. */
  readonly needed: number;
}

/** Reasons why no member takes writes, by member. */
class NoPrimaryError extends Error {
  override readonly name = 'NoPrimaryError';
}

export function sessionConfig(
  { user, password, database, tls }: PostgresAddress,
  { host, port }: MemberAddress,
): ClientConfig {
  return {
    host,
    port,
    user,
    database,
    // Without this, pg would look for a password file.
    password: password ?? '',
    ssl: tls ?? false,
    application_name: 'mesocosm',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAliveInitialDelayMillis: 5000,
  };
}

/**
 * The writable member with the greatest timeline: after a promotion the old primary may still think that it is one.
 * @param neededMin - one that acknowledges commits when fewer members have them is not taken: it was promoted, and does
 * not know its standbys yet.
 */
export async function findPrimary(address: PostgresAddress, neededMin = 1): Promise<FoundMember> {
  const reasons: string[] = [];
  const asked = address.members.map(async (member) => {
    const name = `${member.host}:${member.port}`;
    try {
      const { timeline, needed } = await roleOf(address, member);
      if (timeline > 0 && needed >= neededMin) return { member, timeline, needed };
      reasons.push(
        timeline > 0 ? `${name} ${shortRule(needed, neededMin)}` : `${name} is a standby`,
      );
    } catch (error) {
      // The driver's own words for a password that it was not given.
      const isAsked =
        address.password === undefined && /client password must be/.test(reasonOf(error));
      reasons.push(
        `${name}: ${isAsked ? 'it asks for a password: set PGPASSWORD' : reasonOf(error)}`,
      );
    }
    return undefined;
  });
  const found = (await Promise.all(asked)).filter((each) => each !== undefined);
  found.sort((one, other) => other.timeline - one.timeline);
  const [best] = found;
  if (best !== undefined) return best;
  throw new NoPrimaryError(`No member takes writes: ${reasons.join('; ')}.`);
}

/** Why a primary with such a rule takes no writes of ours. */
export function shortRule(needed: number, neededMin: number): string {
  return `waits for ${needed} of the ${neededMin} members that a commit needs: see synchronous_standby_names`;
}

async function roleOf(
  address: PostgresAddress,
  member: MemberAddress,
): Promise<{ readonly timeline: number; readonly needed: number }> {
  const session = await PostgresSession.connect(sessionConfig(address, member));
  const late = setTimeout(() => session.destroy('it does not answer'), CONNECT_MS_MAX);
  try {
    const [row] = await session.rows(ROLE);
    return { timeline: readInt8(row?.[0]), needed: parseQuorumRule(readText(row?.[1])).needed };
  } finally {
    clearTimeout(late);
    await session.close();
  }
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map(reasonOf).join(', ');
  return error.message;
}
