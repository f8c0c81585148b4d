/**
 * The flags of `mesocosm start`: one table that is parser input, help text and list of environment variables.
 * A flag takes precedence over its variable; `--nosql-port` is MESOCOSM_NOSQL_PORT.
 */
import { parseArgs } from 'node:util';
import { ExitError } from './exit-error.ts';

interface Flag {
  readonly name: string;
  /** The name of the value in the help text; undefined for a switch. */
  readonly value?: string;
  readonly fallback: string;
  readonly meaning: string;
}

export const FLAGS = [
  {
    name: 'data',
    value: 'DIR',
    fallback: './mesocosm-data',
    meaning: 'where partitions live',
  },
  { name: 'memory', fallback: 'off', meaning: 'keep nothing on disk' },
  {
    name: 'engine',
    value: 'URL',
    fallback: '-',
    meaning:
      'keep partitions on a PostgreSQL replica set instead: postgres://USER@HOST,HOST,HOST,HOST/DB; password in PGPASSWORD',
  },
  {
    name: 'replicas',
    value: 'quorum|any',
    fallback: 'quorum',
    meaning: 'any takes a PostgreSQL that keeps fewer than three of four copies of a commit',
  },
  {
    name: 'take-over',
    fallback: 'off',
    meaning: 'take the data on PostgreSQL from another node, which then ends',
  },
  {
    name: 'host',
    value: 'ADDR',
    fallback: '127.0.0.1',
    meaning: 'listen address; anything but loopback requires a --key of your own',
  },
  {
    name: 'nosql-port',
    value: 'PORT',
    fallback: '8081',
    meaning: 'NoSQL API; 0 = any free port, off = not served (all ports)',
  },
  { name: 'mongo-port', value: 'PORT', fallback: '10255', meaning: 'MongoDB API' },
  {
    name: 'mongo-topology',
    value: 'KIND',
    fallback: 'replica-set',
    meaning: 'what the MongoDB API announces: replica-set, standalone or mongos',
  },
  {
    name: 'mongo-auth',
    value: 'on|off',
    fallback: 'on',
    meaning: 'off lets everyone in who reaches the MongoDB API; on loopback only',
  },
  {
    name: 'mongo-test-commands',
    fallback: 'off',
    meaning: 'take configureFailPoint, with which test suites of drivers make commands fail',
  },
  {
    name: 'gremlin-port',
    value: 'PORT',
    fallback: '8901',
    meaning: 'Gremlin API',
  },
  { name: 'table-port', value: 'PORT', fallback: '8902', meaning: 'Table API' },
  {
    name: 'cassandra-port',
    value: 'PORT',
    fallback: '10350',
    meaning: 'Cassandra API',
  },
  { name: 'portal-port', value: 'PORT', fallback: '1234', meaning: 'portal, for browsers' },
  {
    name: 'portal',
    value: 'full|readonly',
    fallback: 'full',
    meaning: 'readonly: nobody changes anything through the portal',
  },
  {
    name: 'cassandra-login',
    value: 'MODE',
    fallback: 'keys',
    meaning:
      'keys: account keys and roles; cassandra: also cassandra/cassandra; none: no login (both on loopback only)',
  },
  {
    name: 'cassandra-retry',
    value: 'on|off',
    fallback: 'off',
    meaning:
      'throttled CQL statements wait in the server, up to 60 seconds, before they are refused',
  },
  {
    name: 'key',
    value: 'BASE64',
    fallback: 'the public emulator key',
    meaning: 'account key of all APIs',
  },
  {
    name: 'secondary-key',
    value: 'BASE64',
    fallback: 'random',
    meaning: 'second key, as good as the first; mesocosm keys list shows the random ones',
  },
  { name: 'readonly-key', value: 'BASE64', fallback: 'random', meaning: 'key that only reads' },
  {
    name: 'secondary-readonly-key',
    value: 'BASE64',
    fallback: 'random',
    meaning: 'second key that only reads',
  },
  {
    name: 'identity-keys',
    value: 'FILE|URL',
    fallback: '-',
    meaning: 'JWKS of the identity provider whose tokens (Entra) are taken',
  },
  {
    name: 'identity-issuer',
    value: 'TEXT',
    fallback: '-',
    meaning: 'issuer these tokens must have',
  },
  {
    name: 'identity-audience',
    value: 'TEXT',
    fallback: '-',
    meaning: 'audience these tokens must have',
  },
  {
    name: 'identity-any',
    fallback: 'off',
    meaning: 'take every well-formed identity token, for development on loopback',
  },
  {
    name: 'roles',
    value: 'FILE',
    fallback: '-',
    meaning: 'JSON with role definitions and assignments of identities',
  },
  {
    name: 'consistency',
    value: 'LEVEL',
    fallback: 'Session',
    meaning: 'of the account: Strong, BoundedStaleness, Session, ConsistentPrefix or Eventual',
  },
  {
    name: 'tls',
    fallback: 'off',
    meaning: 'serve TLS beside plain HTTP on every port; the authority is kept in DATA/tls',
  },
  { name: 'tls-only', fallback: 'off', meaning: 'serve TLS and refuse plain HTTP' },
  {
    name: 'tls-names',
    value: 'NAMES',
    fallback: '-',
    meaning:
      'further names and addresses that clients use, with commas: for the certificate, and as Host under the public key',
  },
  {
    name: 'throughput',
    value: 'MODE',
    fallback: 'enforce',
    meaning: 'enforce answers 429 beyond what is provisioned; report only charges',
  },
  {
    name: 'throughput-min',
    value: 'RU',
    fallback: '400',
    meaning: 'the least a fixed container or a database may be given, RU/s (k, m, g suffixes)',
  },
  {
    name: 'throughput-max',
    value: 'RU',
    fallback: '1m',
    meaning: 'the most a container or a database may be given',
  },
  {
    name: 'throughput-step',
    value: 'RU',
    fallback: '100',
    meaning: 'throughput is set in multiples of this',
  },
  {
    name: 'unlimited-throughput-min',
    value: 'RU',
    fallback: '1000',
    meaning: 'the least an unlimited container may be given; with less, one with a key is fixed',
  },
  {
    name: 'fixed-throughput-max',
    value: 'RU',
    fallback: '10000',
    meaning: 'the most a fixed container may be given',
  },
  {
    name: 'serverless',
    fallback: 'off',
    meaning: 'no provisioned throughput: every partition serves up to 5,000 RU/s',
  },
  {
    name: 'partition-storage-limit',
    value: 'BYTES',
    fallback: '10g',
    meaning: 'a physical partition splits at this size (k, m, g suffixes)',
  },
  {
    name: 'partition-throughput-limit',
    value: 'RU',
    fallback: '10000',
    meaning: 'the most one physical partition serves, RU/s (k, m, g suffixes)',
  },
  {
    name: 'logical-partition-limit',
    value: 'BYTES',
    fallback: 'as --partition-storage-limit',
    meaning: 'the most one partition key value may hold',
  },
  {
    name: 'script-time-limit',
    value: 'MS',
    fallback: '5000',
    meaning: 'the longest a stored procedure, trigger or function runs (100 to 60000)',
  },
  {
    name: 'script-memory-limit',
    value: 'BYTES',
    fallback: '64m',
    meaning: 'memory of one script (8m to 512m)',
  },
  {
    name: 'split-by-heat',
    value: 'on|off',
    fallback: 'on',
    meaning:
      'split partitions that refuse requests for minutes, between the keys that share the heat',
  },
  {
    name: 'merge-after-scale-down',
    value: 'on|off',
    fallback: 'off',
    meaning: 'merge small neighbours when throughput was lowered and needs fewer partitions',
  },
  {
    name: 'http-fast-path',
    value: 'on|off',
    fallback: 'on',
    meaning: 'read simple requests without node:http; off leaves every connection to node:http',
  },
  {
    name: 'ready-file',
    value: 'FILE',
    fallback: '-',
    meaning: 'written when all listeners serve: JSON with pid, endpoints, key',
  },
  { name: 'log', value: 'FORMAT', fallback: 'text', meaning: 'text or json' },
  { name: 'quiet', fallback: 'off', meaning: 'print errors only' },
  { name: 'help', fallback: 'off', meaning: 'print this text' },
] as const satisfies readonly Flag[];

export type FlagName = (typeof FLAGS)[number]['name'];

/** Texts as given, each with its source (`--host` or `MESOCOSM_HOST`), so that messages can name it. */
export type FlagTexts = ReadonlyMap<FlagName, { readonly text: string; readonly source: string }>;

/** Reads flags and variables; checks names only. Throws ExitError 2. */
export function readFlags(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): FlagTexts {
  const given = parse(args);
  const texts = new Map<FlagName, { text: string; source: string }>();
  for (const flag of FLAGS) {
    const value = given[flag.name];
    const variable = variableOf(flag.name);
    if (value !== undefined)
      texts.set(flag.name, { text: String(value), source: `--${flag.name}` });
    else if (environment[variable] !== undefined && environment[variable] !== '')
      texts.set(flag.name, { text: environment[variable], source: variable });
  }
  return texts;
}

export function variableOf(name: FlagName): string {
  return `MESOCOSM_${name.toUpperCase().replaceAll('-', '_')}`;
}

function parse(args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const options = Object.fromEntries(
    FLAGS.map((flag): [string, { type: 'string' | 'boolean' }] => [
      flag.name,
      { type: 'value' in flag ? 'string' : 'boolean' },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new ExitError(2, `${message}. See mesocosm start --help.`);
  }
}

/** The help text of `mesocosm start`. */
export function startHelp(): string {
  const left = (flag: Flag): string =>
    `  --${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
  const width = Math.max(...FLAGS.map((flag) => left(flag).length)) + 2;
  return [
    'Usage: mesocosm start [flags]',
    '',
    'Starts the server and prints one table: API, endpoint, connection string.',
    'Every flag can be set as an environment variable: --nosql-port is MESOCOSM_NOSQL_PORT.',
    '',
    ...FLAGS.map((flag) => `${left(flag).padEnd(width)}${flag.meaning} [${flag.fallback}]`),
    '',
  ].join('\n');
}
