/** The bodies of requests as typed data. */
import type { Bytes } from '../../../base/index.ts';
import { protocolError } from '../errors.ts';
import { BATCH_STATEMENTS_MAX } from '../limits.ts';
import type { BodyReader, BoundValue } from './body-reader.ts';

/** What a request says beside its statement. */
export interface QueryParameters {
  readonly consistency: number;
  readonly values: readonly BoundValue[];
  /** Set if the values are named instead of in order. */
  readonly names: readonly string[] | undefined;
  readonly skipsMetadata: boolean;
  readonly pageSize: number | undefined;
  readonly pagingState: Bytes | undefined;
  readonly serialConsistency: number | undefined;
  /** Microseconds, of all writes that do not say their own. */
  readonly timestamp: bigint | undefined;
  readonly keyspace: string | undefined;
}

export interface BatchRequest {
  readonly type: 'logged' | 'unlogged' | 'counter';
  readonly entries: readonly BatchEntry[];
  readonly parameters: QueryParameters;
}

interface BatchEntry {
  readonly statement: { readonly text: string } | { readonly id: Bytes };
  readonly values: readonly BoundValue[];
}

const FLAG = {
  values: 0x01,
  skipMetadata: 0x02,
  pageSize: 0x04,
  pagingState: 0x08,
  serialConsistency: 0x10,
  timestamp: 0x20,
  names: 0x40,
  keyspace: 0x80,
  nowInSeconds: 0x100,
} as const;

const BATCH_TYPES = ['logged', 'unlogged', 'counter'] as const;

export function readQueryParameters(reader: BodyReader, version: number): QueryParameters {
  const consistency = reader.short();
  const flags = version >= 5 ? reader.int() : reader.byte();
  const { values, names } =
    (flags & FLAG.values) !== 0
      ? readValues(reader, version, (flags & FLAG.names) !== 0)
      : { values: [], names: undefined };
  return {
    consistency,
    values,
    names,
    skipsMetadata: (flags & FLAG.skipMetadata) !== 0,
    pageSize: (flags & FLAG.pageSize) !== 0 ? reader.int() : undefined,
    pagingState: (flags & FLAG.pagingState) !== 0 ? (reader.bytes() ?? undefined) : undefined,
    ...readTail(reader, flags, version),
  };
}

function readValues(reader: BodyReader, version: number, isNamed: boolean) {
  const count = reader.short();
  const values: BoundValue[] = [];
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    if (isNamed) names.push(reader.string());
    values.push(reader.value(version));
  }
  return { values, names: isNamed ? names : undefined };
}

/** What QUERY, EXECUTE and BATCH end with. */
function readTail(reader: BodyReader, flags: number, version: number) {
  const serialConsistency = (flags & FLAG.serialConsistency) !== 0 ? reader.short() : undefined;
  const timestamp = (flags & FLAG.timestamp) !== 0 ? reader.long() : undefined;
  const keyspace = version >= 5 && (flags & FLAG.keyspace) !== 0 ? reader.string() : undefined;
  if (version >= 5 && (flags & FLAG.nowInSeconds) !== 0) reader.int();
  return { serialConsistency, timestamp, keyspace };
}

export function readBatch(reader: BodyReader, version: number): BatchRequest {
  const type = BATCH_TYPES[reader.byte()];
  if (type === undefined) throw protocolError('Invalid batch type');
  const count = reader.short();
  if (count > BATCH_STATEMENTS_MAX)
    throw protocolError(`A batch has at most ${BATCH_STATEMENTS_MAX} statements`);
  const entries: BatchEntry[] = [];
  for (let index = 0; index < count; index++) {
    const kind = reader.byte();
    if (kind > 1) throw protocolError('Invalid query kind in BATCH messages. Must be 0 or 1');
    const statement = kind === 0 ? { text: reader.longString() } : { id: reader.shortBytes() };
    const values: BoundValue[] = [];
    for (let left = reader.short(); left > 0; left--) values.push(reader.value(version));
    entries.push({ statement, values });
  }
  const consistency = reader.short();
  const flags = reader.isAtEnd ? 0 : version >= 5 ? reader.int() : reader.byte();
  const parameters: QueryParameters = {
    consistency,
    values: [],
    names: undefined,
    skipsMetadata: false,
    pageSize: undefined,
    pagingState: undefined,
    ...readTail(reader, flags, version),
  };
  return { type, entries, parameters };
}
