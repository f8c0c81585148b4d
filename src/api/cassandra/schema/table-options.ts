/** Options of WITH: which there are, their values, and how system_schema shows them. */
import type { Options, OptionValue } from '../cql/ast.ts';
import { CqlError } from '../errors.ts';
import { TTL_SEC_MAX } from '../limits.ts';
import type { TableOptions } from './table-schema.ts';

type OptionMap = Readonly<Record<string, string>>;
type Check = (name: string, value: OptionValue) => string | OptionMap;

/** Options of tables that Cassandra and the reference service know; others are refused. In order. */
const CHECKS: Readonly<Record<string, Check>> = {
  additional_write_policy: text,
  bloom_filter_fp_chance: number({ above: 6.71e-5, most: 1 }),
  caching,
  cdc: text,
  comment: text,
  compaction,
  compression,
  cosmosdb_autoscale_max_throughput: text,
  cosmosdb_cell_level_timestamp: text,
  cosmosdb_cell_level_timestamp_tombstones: text,
  cosmosdb_cell_level_timetolive: text,
  cosmosdb_provisioned_throughput: text,
  crc_check_chance: number({ least: 0, most: 1 }),
  dclocal_read_repair_chance: number({ least: 0, most: 1 }),
  default_time_to_live: integer(0, TTL_SEC_MAX),
  extensions: map,
  gc_grace_seconds: integer(0),
  id: text,
  max_index_interval: integer(1),
  memtable_flush_period_in_ms: integer(0),
  min_index_interval: integer(1),
  read_repair: text,
  read_repair_chance: number({ least: 0, most: 1 }),
  speculative_retry: text,
};

/** Throws CqlError for an option or a value that there is not. */
export function optionsOf(options: Options): TableOptions {
  const result: Record<string, string | OptionMap> = {};
  for (const [name, value] of options) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
    if (check === undefined) throw syntax(`Unknown property '${name}'`);
    result[name] = check(name, value);
  }
  const [least, most] = [result.min_index_interval ?? 128, result.max_index_interval ?? 2048];
  if (Number(most) < Number(least))
    throw config(
      `max_index_interval must be greater than or equal to min_index_interval (${least}) (got ${most})`,
    );
  return result;
}

function syntax(message: string): CqlError {
  return new CqlError('syntaxError', message);
}

function config(message: string): CqlError {
  return new CqlError('configError', message);
}

function text(name: string, value: OptionValue): string {
  if (typeof value === 'string') return value;
  throw syntax(`Invalid value for property '${name}'. It should be a string`);
}

function map(name: string, value: OptionValue): OptionMap {
  if (typeof value !== 'string') return Object.fromEntries(value);
  throw syntax(`Invalid value for property '${name}'. It should be a map.`);
}

function integer(least: number, most?: number): Check {
  return (name, value) => {
    const given = text(name, value);
    if (!/^[+-]?\d{1,10}$/.test(given))
      throw syntax(`Invalid integer value ${given} for '${name}'`);
    if (Number(given) < least)
      throw config(`${name} must be greater than or equal to ${least} (got ${given})`);
    if (most !== undefined && Number(given) > most)
      throw config(`${name} must be less than or equal to ${most} (got ${given})`);
    return given;
  };
}

function number(bounds: {
  readonly least?: number;
  readonly above?: number;
  readonly most: number;
}) {
  return (name: string, value: OptionValue): string => {
    const given = text(name, value);
    const found = Number(given);
    if (given.trim() === '' || Number.isNaN(found))
      throw syntax(`Invalid double value ${given} for '${name}'`);
    const { least, above, most } = bounds;
    if (
      (least !== undefined && found < least) ||
      (above !== undefined && found <= above) ||
      found > most
    )
      throw config(
        above === undefined
          ? `${name} must be larger than or equal to ${least} and smaller than or equal to ${most}.0 (got ${given})`
          : `${name} must be larger than ${above} and less than or equal to ${most}.0 (got ${given})`,
      );
    return given;
  };
}

function caching(name: string, value: OptionValue): OptionMap {
  const given = map(name, value);
  const { keys = 'ALL', rows_per_partition: rows = 'NONE', ...others } = given;
  if (Object.keys(others).length > 0)
    throw config(
      `Invalid caching sub-options ${JSON.stringify(others)}: only 'keys' and 'rows_per_partition' are allowed.`,
    );
  if (!/^(all|none)$/i.test(keys))
    throw config("Invalid value for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed.");
  if (!/^(all|none|\d+)$/i.test(rows))
    throw config(
      "Invalid value for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed.",
    );
  return { keys: keys.toUpperCase(), rows_per_partition: rows.toUpperCase() };
}

const COMPACTION_PACKAGE = 'org.apache.cassandra.db.compaction.';
const STRATEGIES = ['SizeTiered', 'Leveled', 'TimeWindow', 'DateTiered'].map(
  (name) => `${COMPACTION_PACKAGE}${name}CompactionStrategy`,
);

function compaction(name: string, value: OptionValue): OptionMap {
  const given = map(name, value);
  const short = given.class;
  if (short === undefined) throw config("Missing sub-option 'class' for the 'compaction' option.");
  const whole = short.includes('.') ? short : `${COMPACTION_PACKAGE}${short}`;
  if (!STRATEGIES.includes(whole))
    throw config(`Unable to find compaction strategy class '${whole}'`);
  checkCompaction(whole.slice(COMPACTION_PACKAGE.length), given);
  const hasThresholds = !whole.includes('Leveled');
  return {
    ...(hasThresholds ? { max_threshold: '32', min_threshold: '4' } : {}),
    ...given,
    class: whole,
  };
}

const COMPACTION_OPTIONS = [
  'class',
  'enabled',
  'log_all',
  'max_threshold',
  'min_threshold',
  'only_purge_repaired_tombstones',
  'tombstone_compaction_interval',
  'tombstone_threshold',
  'unchecked_tombstone_compaction',
];
const SIZE_TIERED_OPTIONS = ['bucket_high', 'bucket_low', 'min_sstable_size'];
const STRATEGY_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  DateTieredCompactionStrategy: [
    'base_time_seconds',
    'max_sstable_age_days',
    'max_window_size_seconds',
    'timestamp_resolution',
  ],
  LeveledCompactionStrategy: ['fanout_size', 'single_sstable_uplevel', 'sstable_size_in_mb'],
  SizeTieredCompactionStrategy: SIZE_TIERED_OPTIONS,
  TimeWindowCompactionStrategy: [
    ...SIZE_TIERED_OPTIONS,
    'compaction_window_size',
    'compaction_window_unit',
    'expired_sstable_check_frequency_seconds',
    'timestamp_resolution',
    'unsafe_aggressive_sstable_expiration',
  ],
};

/** Nothing is compacted here, but a mistake should be found before the table moves to a server that does. */
function checkCompaction(strategy: string, options: OptionMap): void {
  const known = [...COMPACTION_OPTIONS, ...(STRATEGY_OPTIONS[strategy] ?? [])];
  const unknown = Object.keys(options).filter((option) => !known.includes(option));
  if (unknown.length > 0)
    throw config(`Properties specified [${unknown.join(', ')}] are not understood by ${strategy}`);
  const { enabled, sstable_size_in_mb: size, tombstone_threshold: threshold } = options;
  if (enabled !== undefined && !/^(true|false)$/i.test(enabled))
    throw config(`enabled should either be 'true' or 'false', not ${enabled}`);
  if (size !== undefined && !(Number(size) > 0))
    throw config(`sstable_size_in_mb must be larger than 0, but was ${size}`);
  if (threshold !== undefined && !(Number(threshold) >= 0))
    throw config(`tombstone_threshold must be greater than 0, but was ${threshold}`);
}

const COMPRESSION_PACKAGE = 'org.apache.cassandra.io.compress.';
const COMPRESSORS = ['LZ4', 'Snappy', 'Deflate', 'Zstd', 'Noop'].map(
  (name) => `${COMPRESSION_PACKAGE}${name}Compressor`,
);
const COMPRESSION_OPTIONS: readonly string[] = [
  'chunk_length_in_kb',
  'compression_level',
  'crc_check_chance',
  'lz4_compressor_type',
  'lz4_high_compressor_level',
  'max_compressed_length',
  'min_compress_ratio',
];

/** As Cassandra shows it: the whole name of the class, and the chunk length in any case. */
function compression(name: string, value: OptionValue): OptionMap {
  const given = { ...map(name, value) };
  const { enabled } = given;
  delete given.enabled;
  if (enabled !== undefined && !/^true$/i.test(enabled)) {
    if (Object.keys(given).length > 0)
      throw config("If the 'enabled' option is set to false no other options must be specified");
    return { enabled: 'false' };
  }
  if (given.class !== undefined && given.sstable_compression !== undefined)
    throw config(
      "The 'sstable_compression' option must not be used if the compression algorithm is already specified by the 'class' option",
    );
  if (given.chunk_length_in_kb !== undefined && given.chunk_length_kb !== undefined)
    throw config(
      "The 'chunk_length_kb' option must not be used if the chunk length is already specified by the 'chunk_length_in_kb' option",
    );
  const { class: short = given.sstable_compression, chunk_length_kb: oldLength, ...rest } = given;
  delete rest.sstable_compression;
  if (short === undefined) {
    if (Object.keys(rest).length === 0 && oldLength === undefined) return { enabled: 'false' };
    throw config("Missing sub-option 'class' for the 'compression' option.");
  }
  if (short === '' && given.class === undefined) return { enabled: 'false' };
  if (short === '')
    throw config(
      "The 'class' option must not be empty. To disable compression use 'enabled' : false",
    );
  const whole = short.includes('.') ? short : `${COMPRESSION_PACKAGE}${short}`;
  if (!COMPRESSORS.includes(whole)) throw config(`Could not create Compression for type ${whole}`);
  const unknown = Object.keys(rest).filter((option) => !COMPRESSION_OPTIONS.includes(option));
  if (unknown.length > 0) throw config(`Unknown compression options ${unknown.join(', ')}`);
  const { min_compress_ratio: ratio, ...others } = rest;
  return {
    chunk_length_in_kb: chunkLength(others.chunk_length_in_kb ?? oldLength ?? '16'),
    ...without(others, 'chunk_length_in_kb'),
    class: whole,
    ...compressRatio(ratio),
  };
}

function without(options: OptionMap, name: string): OptionMap {
  return Object.fromEntries(Object.entries(options).filter(([key]) => key !== name));
}

function chunkLength(given: string): string {
  const length = Number(given);
  if (!/^-?\d+$/.test(given)) throw config(`Invalid value for chunk_length_in_kb: ${given}`);
  if (length <= 0) throw config('Invalid negative or null chunk_length_in_kb');
  if ((length & (length - 1)) !== 0) throw config('chunk_length_in_kb must be a power of 2');
  return given;
}

function compressRatio(given: string | undefined): OptionMap {
  const ratio = Number(given ?? 0);
  if (ratio < 0) throw config('Invalid negative min_compress_ratio');
  if (ratio > 0 && ratio < 1)
    throw config('min_compress_ratio can either be 0 or greater than or equal to 1');
  if (ratio === 0) return {};
  return { min_compress_ratio: Number.isInteger(ratio) ? ratio.toFixed(1) : String(ratio) };
}
