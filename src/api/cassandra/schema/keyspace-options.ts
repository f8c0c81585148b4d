/** The options of a keyspace, checked as Cassandra checks them. There is one data center and one node. */
import type { Options } from '../cql/ast.ts';
import { CqlError, invalid } from '../errors.ts';
import type { Keyspace } from './keyspaces.ts';
import { THROUGHPUT_OPTIONS } from './throughput-options.ts';

export const DATA_CENTER = 'datacenter1';

const KNOWN: readonly string[] = ['replication', 'durable_writes', ...THROUGHPUT_OPTIONS];
const PACKAGE = 'org.apache.cassandra.locator.';
const STRATEGIES: readonly string[] = ['SimpleStrategy', 'NetworkTopologyStrategy'];

export function keyspacePolicy(name: string, options: Options, current?: Keyspace) {
  for (const option of options.keys())
    if (!KNOWN.includes(option)) throw new CqlError('syntaxError', `Unknown property '${option}'`);
  const replication = options.get('replication');
  if (replication === undefined && current === undefined)
    throw invalid("Missing mandatory option 'replication'");
  if (typeof replication === 'string')
    throw new CqlError(
      'syntaxError',
      "Invalid value for property 'replication'. It should be a map.",
    );
  const durable = options.get('durable_writes');
  if (durable !== undefined && !/^(?:true|false|yes|no|0|1)$/i.test(String(durable)))
    throw new CqlError(
      'syntaxError',
      `Invalid boolean value ${String(durable)} for 'durable_writes'. Positive values can be '1', 'true' or 'yes'. Other values are considered as false.`,
    );
  return {
    replication:
      replication === undefined
        ? (current?.replication ?? {})
        : replicationOf(name, replication, current === undefined),
    durableWrites:
      durable === undefined
        ? (current?.durableWrites ?? true)
        : /^(?:true|yes|1)$/i.test(String(durable)),
  };
}

/** With the whole name of the class and each data center, as system_schema has it. */
function replicationOf(
  keyspace: string,
  options: ReadonlyMap<string, string>,
  isNew: boolean,
): Record<string, string> {
  const strategy = options.get('class');
  if (strategy === undefined) throw configError('Missing replication strategy class');
  const name = strategy.startsWith(PACKAGE) ? strategy.slice(PACKAGE.length) : strategy;
  if (name === 'LocalStrategy')
    throw invalid(
      'Unable to use given strategy class: LocalStrategy is reserved for internal use.',
    );
  if (!STRATEGIES.includes(name))
    throw configError(`Unable to find replication strategy class '${PACKAGE}${name}'`);
  const given = [...options].filter(([option]) => option !== 'class');
  // A new keyspace may leave the factor to the server.
  const factors = isNew && given.length === 0 ? DEFAULT_FACTORS : given;
  for (const [, factor] of factors) checkFactor(factor);
  const checked =
    name === 'SimpleStrategy' ? simple(keyspace, factors) : byDataCenter(keyspace, factors);
  return { class: `${PACKAGE}${name}`, ...Object.fromEntries(checked) };
}

const DEFAULT_FACTORS = [['replication_factor', '1']] as const;

type Factors = readonly (readonly [string, string])[];

function simple(keyspace: string, factors: Factors): Factors {
  if (!factors.some(([option]) => option === 'replication_factor'))
    throw configError('SimpleStrategy requires a replication_factor strategy option.');
  const other = factors.find(([option]) => option !== 'replication_factor');
  if (other !== undefined) throw unrecognized(other[0], 'SimpleStrategy', keyspace);
  return factors;
}

/** `replication_factor` stands for every data center that is not named. */
function byDataCenter(keyspace: string, factors: Factors): Factors {
  const all = factors.find(([option]) => option === 'replication_factor');
  const named = factors.filter(([option]) => option !== 'replication_factor');
  const other = named.find(([option]) => option !== DATA_CENTER);
  if (other !== undefined) throw unrecognized(other[0], 'NetworkTopologyStrategy', keyspace);
  if (factors.length === 0)
    throw configError('Configuration for at least one datacenter must be present');
  return all === undefined || named.length > 0 ? named : [[DATA_CENTER, all[1]]];
}

function checkFactor(text: string): void {
  const [all = '', transient] = text.split('/');
  if (!/^[+-]?\d+$/.test(all))
    throw configError(`Replication factor must be numeric; found ${text}`);
  if (Number(all) < 0) throw configError(`Replication factor must be non-negative; found ${text}`);
  if (transient !== undefined)
    throw configError('Transient replication is disabled. Enable in cassandra.yaml to use.');
}

function unrecognized(option: string, strategy: string, keyspace: string): CqlError {
  return configError(
    `Unrecognized strategy option {${option}} passed to ${strategy} for keyspace ${keyspace}`,
  );
}

function configError(message: string): CqlError {
  return new CqlError('configError', message);
}
