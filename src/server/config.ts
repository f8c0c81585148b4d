/** The configuration as one typed object, parsed once from flags and environment. */
import { isIP } from 'node:net';
import { isPublicKey, WELL_KNOWN_KEY } from '../base/index.ts';
import {
  currentKey,
  DEFAULT_SETTINGS,
  type IdentitySettings,
  isShort,
  KEY_BYTES_MIN,
  KEY_NAMES,
  type KeyName,
  type RotatedKeys,
  type Settings,
} from '../service/index.ts';
import { CONSISTENCY_LEVELS } from '../throughput/index.ts';
import { ExitError } from './exit-error.ts';
import { type FlagName, type FlagTexts, readFlags } from './flags.ts';
import { parseEngine, type StorageConfig } from './storage/storage-config.ts';
import type { TlsSettings } from './tls/index.ts';

export const API_NAMES = ['nosql', 'mongo', 'gremlin', 'table', 'cassandra', 'portal'] as const;
export type ApiName = (typeof API_NAMES)[number];

/** 0: any free port. */
export type Port = number | 'off';

export interface ServerConfig {
  readonly storage: StorageConfig;
  readonly host: string;
  readonly ports: Readonly<Record<ApiName, Port>>;
  readonly access: AccessConfig;
  /** Names clients use, beside those of loopback: in certificates, and as Host while the key is public. */
  readonly hostNames: readonly string[];
  /** Undefined: plain HTTP only. */
  readonly tls: TlsSettings | undefined;
  readonly settings: Settings;
  /** True: nobody changes anything through the portal. */
  readonly isPortalReadOnly: boolean;
  readonly mongo: MongoConfig;
  /** False: node:http reads every request. */
  readonly hasHttpFastPath: boolean;
  readonly readyFile: string | undefined;
  readonly log: 'text' | 'json';
  readonly isQuiet: boolean;
}

/** What the MongoDB API says and allows. */
interface MongoConfig {
  readonly topology: 'replica-set' | 'standalone' | 'mongos';
  /** True: nobody has to log in. */
  readonly isOpen: boolean;
  /** True: fail points may be configured. */
  readonly hasTestCommands: boolean;
}

/** Keys, identities and roles of callers. */
interface AccessConfig {
  /** Base64; the primary key always, the others where they were given. */
  readonly keys: Readonly<Partial<Record<KeyName, string>>> & { readonly primary: string };
  readonly identities: IdentitySettings | undefined;
  /** File with role definitions and assignments. */
  readonly rolesFile: string | undefined;
  /** Who may log in to the Cassandra API. */
  readonly cassandraLogin: 'keys' | 'cassandra' | 'none';
  /** Whether throttled statements of CQL wait in the server. */
  readonly hasCassandraRetry: boolean;
}

const DEFAULT_PORTS: Readonly<Record<ApiName, number>> = {
  nosql: 8081,
  mongo: 10255,
  gremlin: 8901,
  table: 8902,
  cassandra: 10350,
  portal: 1234,
};

const DEFAULT_DATA = './mesocosm-data';

/**
 * Throws ExitError 2 with one line that names the flag, the value and what is allowed.
 * @param rotatedKeysIn - rotated keys of the data directory: a flag whose key was rotated is not checked.
 */
export function parseConfig(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  rotatedKeysIn: (storage: StorageConfig) => RotatedKeys = () => ({}),
): ServerConfig | 'help' {
  const texts = readFlags(args, environment);
  if (isFlagSet(texts, 'help')) return 'help';
  const host = texts.get('host')?.text ?? '127.0.0.1';
  const access = parseAccess(texts);
  const storage = parseStorage(texts, environment.PGPASSWORD);
  const hostNames = parseHostNames(texts);
  if (!isLoopback(host)) {
    const reach = `${texts.get('host')?.source} ${host}: other machines could reach the server`;
    // Keys that were rotated on PostgreSQL are known when it is open.
    if (storage.kind !== 'postgres') checkKeys(access, rotatedKeysIn(storage), reach);
    const way = openWayIn(access);
    if (way !== undefined) throw new ExitError(2, `${reach}, and ${way}, or listen on 127.0.0.1.`);
  }
  return {
    storage,
    host,
    ports: parsePorts(texts),
    access,
    hostNames,
    tls: parseTls(texts, hostNames),
    settings: parseSettings(texts),
    isPortalReadOnly:
      read(texts, 'portal', oneOf('full', 'readonly'), 'full or readonly') === 'readonly',
    mongo: parseMongo(texts, host),
    hasHttpFastPath:
      (read(texts, 'http-fast-path', oneOf('on', 'off'), 'on or off') ?? 'on') === 'on',
    readyFile: texts.get('ready-file')?.text,
    log: read(texts, 'log', oneOf('text', 'json'), 'text or json') ?? 'text',
    isQuiet: isFlagSet(texts, 'quiet'),
  };
}

/** A flag that lets everyone in, and what to use instead. */
function openWayIn({ identities, cassandraLogin: mode }: AccessConfig): string | undefined {
  if (identities?.keys.kind === 'any')
    return '--identity-any lets everyone in. Use --identity-keys';
  return mode === 'keys' ? undefined : `--cassandra-login ${mode} lets everyone in. Use keys`;
}

/** Checks the keys where the rotated ones are known late. Throws ExitError 2. */
export function checkReachableKeys({ host, access }: ServerConfig, rotated: RotatedKeys): void {
  if (isLoopback(host)) return;
  checkKeys(access, rotated, `--host ${host}: other machines could reach the server`);
}

/** True for addresses that only this machine reaches. A name other than localhost may be anything. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

const KEY_FLAGS: Readonly<Record<KeyName, FlagName>> = {
  primary: 'key',
  secondary: 'secondary-key',
  primaryReadonly: 'readonly-key',
  secondaryReadonly: 'secondary-readonly-key',
};

function parseAccess(texts: FlagTexts): AccessConfig {
  const keys: Partial<Record<KeyName, string>> & { primary: string } = { primary: WELL_KNOWN_KEY };
  for (const name of KEY_NAMES) {
    const key = read(texts, KEY_FLAGS[name], parseKey, 'base64 text of at least one byte');
    if (key !== undefined) keys[name] = key;
  }
  const loginMode = oneOf('keys', 'cassandra', 'none');
  return {
    keys,
    identities: parseIdentities(texts),
    rolesFile: texts.get('roles')?.text,
    hasCassandraRetry: read(texts, 'cassandra-retry', oneOf('on', 'off'), 'on or off') === 'on',
    cassandraLogin: read(texts, 'cassandra-login', loginMode, 'keys, cassandra or none') ?? 'keys',
  };
}

function parseIdentities(texts: FlagTexts): IdentitySettings | undefined {
  const published = texts.get('identity-keys');
  const isAny = isFlagSet(texts, 'identity-any');
  if (published === undefined && !isAny) return undefined;
  if (published !== undefined && isAny)
    throw new ExitError(
      2,
      '--identity-keys and --identity-any exclude each other: give one of them.',
    );
  return {
    keys: published === undefined ? { kind: 'any' } : { kind: 'published', at: published.text },
    issuer: texts.get('identity-issuer')?.text,
    audience: texts.get('identity-audience')?.text,
  };
}

/** A server that other machines can reach needs keys that are not public and cannot be guessed. */
function checkKeys({ keys }: AccessConfig, rotated: RotatedKeys, reach: string): void {
  for (const name of KEY_NAMES) {
    const given = keys[name];
    if (given === undefined) continue;
    const key = currentKey(given, rotated[name]);
    if (isPublicKey(key))
      throw new ExitError(
        2,
        `${reach}, and the ${describeKey(name, key)} is public knowledge. ${NEW_KEY}`,
      );
    if (isShort(key))
      throw new ExitError(
        2,
        `${reach}, and the ${describeKey(name, key)} has ${Buffer.from(key, 'base64').length} bytes, which can be guessed: at least ${KEY_BYTES_MIN} are needed. ${NEW_KEY}`,
      );
  }
}

function describeKey(name: KeyName, key: string): string {
  return key === WELL_KNOWN_KEY && name === 'primary'
    ? 'default key'
    : `key of --${KEY_FLAGS[name]}`;
}

const NEW_KEY =
  'Give a key of your own, for example --key "$(openssl rand -base64 64 | tr -d \'\\n\')", or listen on 127.0.0.1.';

function parseMongo(texts: FlagTexts, host: string): MongoConfig {
  const isOpen = read(texts, 'mongo-auth', oneOf('on', 'off'), 'on or off') === 'off';
  if (isOpen && !isLoopback(host))
    throw new ExitError(
      2,
      `${texts.get('mongo-auth')?.source} off lets everyone in: it needs a listen address of loopback, not ${host}.`,
    );
  const kinds = oneOf('replica-set', 'standalone', 'mongos');
  return {
    topology:
      read(texts, 'mongo-topology', kinds, 'replica-set, standalone or mongos') ?? 'replica-set',
    isOpen,
    hasTestCommands: isFlagSet(texts, 'mongo-test-commands'),
  };
}

function parseStorage(texts: FlagTexts, password: string | undefined): StorageConfig {
  const data = texts.get('data');
  const engine = texts.get('engine');
  const replicas = read(texts, 'replicas', oneOf('quorum', 'any'), 'quorum or any') ?? 'quorum';
  if (engine !== undefined) {
    for (const other of ['data', 'memory'] as const)
      if (texts.get(other)?.source === `--${other}`)
        throw new ExitError(2, `--engine and --${other} exclude each other: give one of them.`);
    const address = parseEngine(engine, password);
    return { kind: 'postgres', address, replicas, takesOver: isFlagSet(texts, 'take-over') };
  }
  if (!isFlagSet(texts, 'memory')) return { kind: 'directory', path: data?.text ?? DEFAULT_DATA };
  if (data?.source === '--data' && texts.get('memory')?.source === '--memory')
    throw new ExitError(2, '--data and --memory exclude each other: give one of them.');
  // A flag takes precedence over the variable of the other.
  if (data?.source === '--data') return { kind: 'directory', path: data.text };
  return { kind: 'memory' };
}

function parsePorts(texts: FlagTexts): Readonly<Record<ApiName, Port>> {
  const ports: Record<ApiName, Port> = { ...DEFAULT_PORTS };
  for (const api of API_NAMES)
    ports[api] = read(texts, `${api}-port`, parsePort, '0 to 65535, or off') ?? ports[api];
  return ports;
}

function parseHostNames(texts: FlagTexts): readonly string[] {
  return read(texts, 'tls-names', parseNames, 'host names and addresses, with commas') ?? [];
}

function parseTls(texts: FlagTexts, names: readonly string[]): TlsSettings | undefined {
  const isOnly = isFlagSet(texts, 'tls-only');
  if (!isFlagSet(texts, 'tls') && !isOnly) return undefined;
  return { names, isPlainServed: !isOnly };
}

function parseNames(text: string): readonly string[] | undefined {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  const isName = (name: string): boolean =>
    isIP(name) !== 0 || /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name);
  return names.every(isName) ? names : undefined;
}

function parseSettings(texts: FlagTexts): Settings {
  const bytes = 'a whole number of bytes from 1k, with suffix k, m or g if wanted';
  const storage =
    read(texts, 'partition-storage-limit', atLeast(1024), bytes) ??
    DEFAULT_SETTINGS.partitionStorageLimit;
  return {
    ...DEFAULT_SETTINGS,
    ...parseThroughputBounds(texts),
    throughputMode:
      read(texts, 'throughput', oneOf('enforce', 'report'), 'enforce or report') ??
      DEFAULT_SETTINGS.throughputMode,
    consistency:
      read(texts, 'consistency', parseConsistency, CONSISTENCY_LEVELS.join(', ')) ??
      DEFAULT_SETTINGS.consistency,
    capacityMode: isFlagSet(texts, 'serverless') ? 'serverless' : 'provisioned',
    partitionStorageLimit: storage,
    partitionThroughputLimit:
      read(
        texts,
        'partition-throughput-limit',
        atLeast(100, 1000),
        'a whole number of RU/s from 100',
      ) ?? DEFAULT_SETTINGS.partitionThroughputLimit,
    logicalPartitionLimit: read(texts, 'logical-partition-limit', atLeast(1024), bytes) ?? storage,
    scriptTimeLimitMs:
      read(texts, 'script-time-limit', between(100, 60_000, 1000), '100 to 60000 milliseconds') ??
      DEFAULT_SETTINGS.scriptTimeLimitMs,
    scriptMemoryLimit:
      read(texts, 'script-memory-limit', between(8 * MIB, 512 * MIB), 'bytes from 8m to 512m') ??
      DEFAULT_SETTINGS.scriptMemoryLimit,
    splitsByHeat: (read(texts, 'split-by-heat', oneOf('on', 'off'), 'on or off') ?? 'on') === 'on',
    mergesAfterScaleDown:
      read(texts, 'merge-after-scale-down', oneOf('on', 'off'), 'on or off') === 'on',
  };
}

/** The bounds of throughput; the defaults are those of the reference service. */
function parseThroughputBounds(texts: FlagTexts) {
  const ru = (name: FlagName, fallback: number): number =>
    read(texts, name, atLeast(1, 1000), 'a whole number of RU/s from 1') ?? fallback;
  const bounds = {
    throughputMin: ru('throughput-min', DEFAULT_SETTINGS.throughputMin),
    throughputQuota: ru('throughput-max', DEFAULT_SETTINGS.throughputQuota),
    throughputStep: ru('throughput-step', DEFAULT_SETTINGS.throughputStep),
    unlimitedThroughputMin: ru('unlimited-throughput-min', DEFAULT_SETTINGS.unlimitedThroughputMin),
    fixedThroughputMax: ru('fixed-throughput-max', DEFAULT_SETTINGS.fixedThroughputMax),
  };
  const { throughputMin, throughputStep, unlimitedThroughputMin } = bounds;
  const { throughputQuota, fixedThroughputMax } = bounds;
  if (throughputMin > fixedThroughputMax)
    throw new ExitError(2, '--throughput-min must not be above --fixed-throughput-max.');
  if (Math.max(throughputMin, unlimitedThroughputMin) > throughputQuota)
    throw new ExitError(2, 'No least throughput may be above --throughput-max.');
  if (Object.values(bounds).some((bound) => bound % throughputStep !== 0))
    throw new ExitError(2, 'Least and most throughput must be multiples of --throughput-step.');
  return bounds;
}

function parseConsistency(text: string) {
  return CONSISTENCY_LEVELS.find((level) => level.toLowerCase() === text.toLowerCase());
}

/** Undefined where the flag was not given. `parse` returns undefined for a value that is not allowed. */
function read<T>(
  texts: FlagTexts,
  name: FlagName,
  parse: (text: string) => T | undefined,
  allowed: string,
): T | undefined {
  const given = texts.get(name);
  if (given === undefined) return undefined;
  const value = parse(given.text);
  if (value !== undefined) return value;
  throw new ExitError(2, `${given.source} ${JSON.stringify(given.text)}: allowed is ${allowed}.`);
}

/** Switches as variables: 1 or true, 0 or false. */
function isFlagSet(texts: FlagTexts, name: FlagName): boolean {
  const parse = (text: string): boolean | undefined => {
    if (text === 'true' || text === '1') return true;
    return text === 'false' || text === '0' ? false : undefined;
  };
  return read(texts, name, parse, '1 or 0') ?? false;
}

function parsePort(text: string): Port | undefined {
  if (text === 'off') return 'off';
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function parseKey(text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64');
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && bytes.toString('base64') === text;
  return isBase64 ? text : undefined;
}

function oneOf<T extends string>(...allowed: readonly T[]): (text: string) => T | undefined {
  return (text) => allowed.find((candidate) => candidate === text);
}

const MIB = 1024 ** 2;

function between(min: number, max: number, unit = 1024): (text: string) => number | undefined {
  const parse = atLeast(min, unit);
  return (text) => {
    const value = parse(text);
    return value !== undefined && value <= max ? value : undefined;
  };
}

/** Parses a whole number with an optional suffix k, m or g (powers of `unit`: 1,024 for bytes, 1,000 for rates). */
function atLeast(min: number, unit = 1024): (text: string) => number | undefined {
  return (text) => {
    const match = /^(\d{1,15})([kmg]?)b?$/i.exec(text);
    if (match === null) return undefined;
    const power = ['', 'k', 'm', 'g'].indexOf((match[2] as string).toLowerCase());
    const value = Number(match[1]) * unit ** power;
    return Number.isSafeInteger(value) && value >= min ? value : undefined;
  };
}
