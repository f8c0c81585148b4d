/**
 * The address of a replica set: `postgres://USER[:PASSWORD]@HOST[:PORT][,HOST[:PORT]…]/DATABASE[?schema=NAME&…]`.
 *
 *   schema=NAME         where the tables are; mesocosm by default
 *   sslmode=MODE        disable (default), require (encrypted, any certificate) or verify-full
 *   sslrootcert=FILE    the authority for verify-full
 *
 * The password may be in PGPASSWORD instead, where other users of the machine do not see it.
 */
import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';

export interface MemberAddress {
  readonly host: string;
  readonly port: number;
}

export interface PostgresAddress {
  readonly members: readonly MemberAddress[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly schema: string;
  readonly tls: ClientConfig['ssl'];
  /** Without the password, for messages. */
  readonly text: string;
}

const DEFAULT_PORT = 5432;
const MEMBERS_MAX = 16;
const FORM = /^postgres(?:ql)?:\/\/([^:@/?]+)(?::([^@/]*))?@([^/?]+)\/([^/?]+)(?:\?(.*))?$/;
/** As an unquoted name of PostgreSQL, so that it is the same quoted. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,50}$/;

/** Returns a text where the address is wrong: what is allowed. */
export function parsePostgresAddress(
  url: string,
  passwordVariable?: string,
): PostgresAddress | string {
  const match = FORM.exec(url);
  if (match === null) return 'postgres://USER@HOST[:PORT][,HOST…]/DATABASE';
  const [, user = '', password, hosts = '', database = '', query = ''] = match.map(decoded);
  const members = hosts.split(',').map(parseMember);
  if (members.length > MEMBERS_MAX) return `at most ${MEMBERS_MAX} members`;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys())
    if (!['schema', 'sslmode', 'sslrootcert'].includes(name))
      return `the parameters schema, sslmode and sslrootcert, not ${name}`;
  const schema = parameters.get('schema') ?? 'mesocosm';
  if (!SCHEMA.test(schema)) return 'a schema of up to 51 small letters, digits and _';
  const tls = tlsOf(parameters);
  if (typeof tls === 'string') return tls;
  const found: MemberAddress[] = [];
  for (const member of members) {
    if (member === undefined) return 'members as HOST or HOST:PORT, with commas';
    found.push(member);
  }
  return {
    members: found,
    user,
    password: password ?? passwordVariable,
    database,
    schema,
    tls,
    text: `postgres://${user}@${hosts}/${database}${query === '' ? '' : `?${query}`}`,
  };
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return part;
  }
}

function parseMember(text: string): MemberAddress | undefined {
  const match = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const port = match[2] === undefined ? DEFAULT_PORT : Number(match[2]);
  if (port < 1 || port > 65_535) return undefined;
  return { host: (match[1] as string).replace(/^\[|\]$/g, ''), port };
}

function tlsOf(parameters: URLSearchParams): ClientConfig['ssl'] | string {
  const mode = parameters.get('sslmode') ?? 'disable';
  const authority = parameters.get('sslrootcert');
  if (mode === 'disable') return false;
  if (mode === 'require') return { rejectUnauthorized: false };
  if (mode !== 'verify-full') return 'sslmode disable, require or verify-full';
  if (authority === null) return { rejectUnauthorized: true };
  try {
    return { rejectUnauthorized: true, ca: readFileSync(authority, 'utf8') };
  } catch {
    return `a readable file as sslrootcert, not ${authority}`;
  }
}
