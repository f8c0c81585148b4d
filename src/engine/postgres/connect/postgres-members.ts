/** Which member takes writes: all of them are asked at once. */
import type { ClientConfig } from 'pg';
import type { MemberAddress, PostgresAddress } from '../postgres-address.ts';
import { unnamed } from '../postgres-statements.ts';
import { readInt8 } from './postgres-messages.ts';
import { PostgresSession } from './postgres-session.ts';

const CONNECT_MS_MAX = 3000;

/** A primary knows its timeline, which grows with every promotion; 0 is a standby. */
const ROLE = unnamed(
  `SELECT CASE WHEN pg_is_in_recovery() THEN 0
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END`,
);

export interface FoundMember {
  readonly member: MemberAddress;
  /** Greater after every promotion. */
  readonly timeline: number;
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

/** The writable member with the greatest timeline: after a promotion the old primary may still think that it is one. */
export async function findPrimary(address: PostgresAddress): Promise<FoundMember> {
  const reasons: string[] = [];
  const asked = address.members.map(async (member) => {
    const name = `${member.host}:${member.port}`;
    try {
      const timeline = await timelineOf(address, member);
      if (timeline > 0) return { member, timeline };
      reasons.push(`${name} is a standby`);
    } catch (error) {
      reasons.push(`${name}: ${reasonOf(error)}`);
    }
    return undefined;
  });
  const found = (await Promise.all(asked)).filter((each) => each !== undefined);
  found.sort((one, other) => other.timeline - one.timeline);
  const [best] = found;
  if (best !== undefined) return best;
  throw new NoPrimaryError(`No member takes writes: ${reasons.join('; ')}.`);
}

async function timelineOf(address: PostgresAddress, member: MemberAddress): Promise<number> {
  const session = await PostgresSession.connect(sessionConfig(address, member));
  const late = setTimeout(() => session.destroy('it does not answer'), CONNECT_MS_MAX);
  try {
    const [row] = await session.rows(ROLE);
    return readInt8(row?.[0]);
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
