// Goal: every flag and variable lands in the config, every bad value is refused in one line. Method: tables.
import { expect, test } from 'vitest';
import { WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY } from '../base/index.ts';
import { AccountKeys, type RotatedKeys } from '../service/index.ts';
import { isLoopback, parseConfig, type ServerConfig } from './config.ts';
import { FLAGS, startHelp, variableOf } from './flags.ts';

const STRONG = Buffer.alloc(32, 'x').toString('base64');

function config(args: readonly string[], environment: Record<string, string> = {}): ServerConfig {
  const parsed = parseConfig(args, environment);
  if (parsed === 'help') throw new Error('help');
  return parsed;
}

test('defaults', () => {
  expect(config([])).toEqual({
    storage: { kind: 'directory', path: './mesocosm-data' },
    host: '127.0.0.1',
    ports: {
      nosql: 8081,
      mongo: 10255,
      gremlin: 8901,
      table: 8902,
      cassandra: 10350,
      portal: 1234,
    },
    access: {
      keys: { primary: WELL_KNOWN_KEY },
      identities: undefined,
      rolesFile: undefined,
      cassandraLogin: 'keys',
      hasCassandraRetry: false,
    },
    hostNames: [],
    tls: undefined,
    settings: {
      partitionThroughputLimit: 10_000,
      partitionStorageLimit: 10 * 1024 ** 3,
      logicalPartitionLimit: 10 * 1024 ** 3,
      throughputQuota: 1_000_000,
      throughputMode: 'enforce',
      capacityMode: 'provisioned',
      burstSec: 300,
      throughputMin: 400,
      throughputStep: 100,
      unlimitedThroughputMin: 1000,
      fixedThroughputMax: 10_000,
      scriptTimeLimitMs: 5000,
      scriptMemoryLimit: 64 * 1024 ** 2,
      splitsByHeat: true,
      consistency: 'Session',
      mergesAfterScaleDown: false,
    },
    isPortalReadOnly: false,
    hasHttpFastPath: true,
    readyFile: undefined,
    log: 'text',
    mongo: { topology: 'replica-set', isOpen: false, hasTestCommands: false },
    isQuiet: false,
  });
});

test.each<[string[], Record<string, string>, (parsed: ServerConfig) => unknown, unknown]>([
  [['--data', 'x'], {}, ({ storage }) => storage, { kind: 'directory', path: 'x' }],
  [['--data=x'], {}, ({ storage }) => storage, { kind: 'directory', path: 'x' }],
  [['--memory'], {}, ({ storage }) => storage, { kind: 'memory' }],
  [[], { MESOCOSM_MEMORY: '1' }, ({ storage }) => storage, { kind: 'memory' }],
  [[], { MESOCOSM_MEMORY: '0' }, ({ storage }) => storage.kind, 'directory'],
  [['--data', 'x'], { MESOCOSM_MEMORY: '1' }, ({ storage }) => storage.kind, 'directory'],
  [['--memory'], { MESOCOSM_DATA: 'x' }, ({ storage }) => storage.kind, 'memory'],
  [['--split-by-heat', 'off'], {}, ({ settings }) => settings.splitsByHeat, false],
  [['--merge-after-scale-down', 'on'], {}, ({ settings }) => settings.mergesAfterScaleDown, true],
  [['--http-fast-path', 'off'], {}, ({ hasHttpFastPath }) => hasHttpFastPath, false],
  [[], { MESOCOSM_HTTP_FAST_PATH: 'off' }, ({ hasHttpFastPath }) => hasHttpFastPath, false],
  [['--nosql-port', '0'], {}, ({ ports }) => ports.nosql, 0],
  [['--mongo-port', 'off'], {}, ({ ports }) => ports.mongo, 'off'],
  [[], { MESOCOSM_NOSQL_PORT: '9000' }, ({ ports }) => ports.nosql, 9000],
  [['--nosql-port', '1'], { MESOCOSM_NOSQL_PORT: '2' }, ({ ports }) => ports.nosql, 1],
  [[], { MESOCOSM_NOSQL_PORT: '' }, ({ ports }) => ports.nosql, 8081],
  [['--host', '::1'], {}, ({ host }) => host, '::1'],
  [['--host', '0.0.0.0', '--key', STRONG], {}, ({ access }) => access.keys.primary, STRONG],
  [['--key', 'AAAA'], {}, ({ access }) => access.keys.primary, 'AAAA'],
  [['--readonly-key', 'b3du'], {}, ({ access }) => access.keys.primaryReadonly, 'b3du'],
  [['--consistency', 'strong'], {}, ({ settings }) => settings.consistency, 'Strong'],
  [['--tls-names', 'A.example, b'], {}, ({ hostNames }) => hostNames, ['a.example', 'b']],
  [['--tls-only'], {}, ({ tls }) => tls, { names: [], isPlainServed: false }],
  [['--throughput', 'report'], {}, ({ settings }) => settings.throughputMode, 'report'],
  [[], {}, bounds, [400, 1_000_000, 100, 1000, 10_000]],
  [
    ['--throughput-min', '200', '--throughput-step', '50', '--throughput-max', '250k'],
    { MESOCOSM_UNLIMITED_THROUGHPUT_MIN: '2500', MESOCOSM_FIXED_THROUGHPUT_MAX: '5k' },
    bounds,
    [200, 250_000, 50, 2500, 5000],
  ],
  [['--serverless'], {}, ({ settings }) => settings.capacityMode, 'serverless'],
  [['--partition-storage-limit', '500k'], {}, limits, [500 * 1024, 500 * 1024, 10_000]],
  [['--partition-storage-limit', '64m'], {}, limits, [64 * 1024 ** 2, 64 * 1024 ** 2, 10_000]],
  [['--logical-partition-limit', '20K'], {}, limits, [10 * 1024 ** 3, 20 * 1024, 10_000]],
  [['--partition-throughput-limit', '6k'], {}, limits, [10 * 1024 ** 3, 10 * 1024 ** 3, 6000]],
  [['--ready-file', 'r.json'], {}, ({ readyFile }) => readyFile, 'r.json'],
  [['--log', 'json', '--quiet'], {}, ({ log, isQuiet }) => [log, isQuiet], ['json', true]],
])('%j with %j', (args, environment, pick, expected) => {
  expect(pick(config(args, environment))).toEqual(expected);
});

function bounds({ settings }: ServerConfig): readonly number[] {
  const { throughputMin, throughputQuota, throughputStep } = settings;
  const { unlimitedThroughputMin, fixedThroughputMax } = settings;
  return [
    throughputMin,
    throughputQuota,
    throughputStep,
    unlimitedThroughputMin,
    fixedThroughputMax,
  ];
}

function limits({ settings }: ServerConfig): readonly number[] {
  const { partitionStorageLimit, logicalPartitionLimit, partitionThroughputLimit } = settings;
  return [partitionStorageLimit, logicalPartitionLimit, partitionThroughputLimit];
}

test.each<[string[], Record<string, string>, string]>([
  [['--nosql-port', '70000'], {}, '--nosql-port "70000": allowed is 0 to 65535, or off.'],
  [['--nosql-port', '-1'], {}, "Option '--nosql-port' argument is ambiguous"],
  [[], { MESOCOSM_TABLE_PORT: 'x' }, 'MESOCOSM_TABLE_PORT "x": allowed is 0 to 65535, or off.'],
  [['--throughput', 'max'], {}, '--throughput "max": allowed is enforce or report.'],
  [['--log', 'xml'], {}, '--log "xml": allowed is text or json.'],
  [['--key', 'not base64!'], {}, '--key "not base64!": allowed is base64 text'],
  [['--partition-storage-limit', '1x'], {}, '--partition-storage-limit "1x": allowed is'],
  [['--partition-storage-limit', '1000'], {}, '--partition-storage-limit "1000": allowed is'],
  [['--partition-throughput-limit', '0'], {}, '--partition-throughput-limit "0": allowed is'],
  [['--throughput-min', '0'], {}, '--throughput-min "0": allowed is'],
  [['--throughput-min', '20k'], {}, '--throughput-min must not be above --fixed-throughput-max.'],
  [['--throughput-max', '900'], {}, 'No least throughput may be above --throughput-max.'],
  [['--throughput-step', '300'], {}, 'must be multiples of --throughput-step.'],
  [['--memory', '--data', 'x'], {}, '--data and --memory exclude each other'],
  [['--tls', '--tls-names', 'a b'], {}, '--tls-names "a b": allowed is host names'],
  [[], { MESOCOSM_QUIET: 'yes' }, 'MESOCOSM_QUIET "yes": allowed is 1 or 0.'],
  [['--host', '0.0.0.0'], {}, '--host 0.0.0.0: other machines could reach the server'],
  [[], { MESOCOSM_HOST: 'db.example' }, 'MESOCOSM_HOST db.example: other machines could reach'],
  [['--host', '::', '--key', WELL_KNOWN_KEY], {}, '--host ::: other machines could reach'],
  [
    ['--host', '::', '--key', STRONG, '--secondary-key', WELL_KNOWN_KEY, '--tls'],
    {},
    'and the key of --secondary-key is public knowledge',
  ],
  [
    ['--host', '0.0.0.0', '--key', 'AAAA'],
    {},
    'and the key of --key has 3 bytes, which can be guessed: at least 32 are needed.',
  ],
  [
    ['--host', '0.0.0.0', '--key', STRONG, '--readonly-key', 'b3du'],
    {},
    'and the key of --readonly-key has 3 bytes',
  ],
  [
    ['--host', '0.0.0.0', '--key', WELL_KNOWN_STORAGE_KEY],
    {},
    'and the key of --key is public knowledge',
  ],
  [['--host', '::', '--key', STRONG, '--identity-any'], {}, '--identity-any lets everyone in'],
  [['--identity-keys', 'a', '--identity-any'], {}, 'exclude each other'],
  [['--consistency', 'Perfect'], {}, '--consistency "Perfect": allowed is Strong, Bounded'],
  [['--prot', '1'], {}, "Unknown option '--prot'. See mesocosm start --help."],
  [['extra'], {}, "Unexpected argument 'extra'"],
])('%j with %j is refused', (args, environment, message) => {
  let failure: unknown;
  try {
    parseConfig(args, environment);
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({ name: 'ExitError', exitCode: 2 });
  expect((failure as Error).message).toContain(message);
  expect((failure as Error).message).not.toContain('\n');
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.example.com', false],
])('%s is loopback: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test('a public key that was rotated does not prevent listening on other addresses', () => {
  let saved: RotatedKeys = {};
  const keys = (primary: string, rotated: RotatedKeys) =>
    new AccountKeys({
      given: { primary },
      secret: Buffer.alloc(64),
      rotated,
      save: (kept) => {
        saved = kept;
      },
      randomBytes: (count) => Buffer.alloc(count, 7),
    });
  const first = keys(WELL_KNOWN_KEY, {});
  expect(first.hasPublicKey).toBe(true);
  void first.rotate('primary');
  expect(first.hasPublicKey).toBe(false);
  const open = () => parseConfig(['--host', '0.0.0.0'], {}, () => saved);
  expect(open()).toMatchObject({ host: '0.0.0.0' });
  // Rotating another key later does not make the public one count again.
  void keys(STRONG, saved).rotate('primary');
  expect(open()).toMatchObject({ host: '0.0.0.0' });
  expect(keys(WELL_KNOWN_KEY, saved).hasPublicKey).toBe(false);
});

test('help names every flag', () => {
  expect(parseConfig(['--help'], {})).toBe('help');
  for (const { name } of FLAGS) expect(startHelp()).toContain(`--${name}`);
  expect(variableOf('ready-file')).toBe('MESOCOSM_READY_FILE');
});
