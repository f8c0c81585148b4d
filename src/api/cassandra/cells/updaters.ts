/**
 * The decisions of all writes. Each gets the row, then the header of its partition (or the header alone), as they are
 * when the write is decided; so concurrent writes need no locks.
 */
import { type Bytes, bufferOf, DomainError } from '../../../base/index.ts';
import { ITEM_FLAGS, type Item, type Outcome, type Updaters } from '../../../partition/index.ts';
import { invalid } from '../errors.ts';
import { RANGE_TOMBSTONES_MAX, ROW_BYTES_MAX } from '../limits.ts';
import { BodyReader } from '../wire/body-reader.ts';
import { BodyWriter } from '../wire/body-writer.ts';
import { compactRow, deletionOver, withoutEndedValues } from './compact.ts';
import { type ConditionScope, holds } from './conditions.ts';
import { withListChanges } from './list-changes.ts';
import { type LiveRow, liveRow } from './live-row.ts';
import { mergeRows } from './merge.ts';
import { decodeMutation, type Mutation } from './mutation.ts';
import { GC_GRACE_SEC_DEFAULT, type Row } from './row.ts';
import { decodeRow, encodeRow } from './row-codec.ts';
import { latestTimestamp, shifted } from './timestamps.ts';

/** Merges a change, if its conditions hold; otherwise keeps the row and replies with it. */
export const WRITE = 'cassandra.write';
/** Refuses a transaction where the conditions do not hold; writes nothing. */
export const CHECK = 'cassandra.check';
/** Leaves the tombstones of a row whose cells have all ended; the partition asks for it by this name. */
const EXPIRED = 'cql.expired';

export const cassandraUpdaters: Updaters = {
  [WRITE](current, args, { nowMs }) {
    const mutation = decodeMutation(args);
    const found = decodeAll(current, mutation);
    const nowSec = Math.floor(nowMs / 1000);
    if (mutation.conditions !== 'none' && !holds(mutation.conditions, scopeOf(found, nowSec)))
      return { kind: 'keep', reply: encodeFound(found) };
    const isConditional = mutation.conditions !== 'none';
    return outcomeOf(found, isConditional ? afterAll(found, mutation, nowMs) : mutation, nowSec);
  },
  [CHECK](current, args, { nowMs }) {
    const mutation = decodeMutation(args);
    const found = decodeAll(current, mutation);
    if (!holds(mutation.conditions, scopeOf(found, Math.floor(nowMs / 1000))))
      throw new ConditionFailed(encodeFound(found));
    return { kind: 'keep' };
  },
  [EXPIRED]([item], _, { nowMs }) {
    if (item === undefined) return { kind: 'keep' };
    const row = withoutEndedValues(decodeRow(item.body), Math.floor(nowMs / 1000));
    // How long the table keeps tombstones is looked at by the write that meets them.
    return shadowOf(encodeRow(row), GC_GRACE_SEC_DEFAULT);
  },
};

/** A condition of a batch did not hold. */
export class ConditionFailed extends DomainError {
  readonly found: Bytes;

  constructor(found: Bytes) {
    super('preconditionFailed', 'A condition of the batch does not hold.');
    this.found = found;
  }
}

/** The row that made a condition fail, and its header. */
export interface FoundRows {
  readonly row: Row | undefined;
  readonly header: Row | undefined;
  /** Encoded key of the row. */
  readonly rowKey: Bytes;
}

/** The first item is the row; for a change of a header, which has no clustering columns, it is the header. */
function decodeAll(current: readonly (Item | undefined)[], { rowKey }: Mutation): FoundRows {
  const [first, second] = current.map((item) =>
    item === undefined ? undefined : decodeRow(item.body),
  );
  return isHeaderKey(rowKey)
    ? { row: undefined, header: first, rowKey }
    : { row: first, header: second, rowKey };
}

/** Keys of rows always have bytes. */
function isHeaderKey(rowKey: Bytes): boolean {
  return rowKey.length === 0;
}

/** Clients whose clocks are ahead by more than this keep their timestamps. */
const CLOCK_TOLERANCE_MS = 1000;

/**
 * A conditional change follows what it has seen, so its timestamp is later than those of the row. Timestamps of the far
 * future stay ahead of it, as in Cassandra.
 */
function afterAll({ row, header, rowKey }: FoundRows, mutation: Mutation, nowMs: number): Mutation {
  const stored = isHeaderKey(rowKey) ? header : row;
  if (stored === undefined) return mutation;
  const latest = latestTimestamp(stored);
  const { change } = mutation;
  let own = latestTimestamp(change);
  for (const { timestamp } of mutation.lists) if (timestamp > own) own = timestamp;
  const isFuture = latest > BigInt(nowMs + CLOCK_TOLERANCE_MS) * 1000n;
  if (latest < own || isFuture) return mutation;
  const by = latest + 1n - own;
  const lists = mutation.lists.map((list) => ({ ...list, timestamp: list.timestamp + by }));
  return { ...mutation, change: shifted(change, by), lists };
}

/** What readers see of a row and of its header. */
export function scopeOf({ row, header, rowKey }: FoundRows, nowSec: number): ConditionScope {
  const statics = header && liveRow(header, undefined, nowSec);
  const isHeader = isHeaderKey(rowKey);
  const seen: LiveRow | undefined = isHeader
    ? statics
    : row && liveRow(row, deletionOver(header, rowKey), nowSec);
  return { row: seen, header: statics };
}

function outcomeOf(
  { row, header, rowKey }: FoundRows,
  mutation: Mutation,
  nowSec: number,
): Outcome {
  const isHeader = isHeaderKey(rowKey);
  const stored = isHeader ? header : row;
  const over = isHeader ? undefined : deletionOver(header, rowKey);
  const { graceSec, lists } = mutation;
  const change = withListChanges(mutation.change, lists, stored, over);
  const left = compactRow(mergeRows(stored, change), { over, nowSec, graceSec });
  if (left === undefined) return { kind: 'delete' };
  if (left.ranges.length > RANGE_TOMBSTONES_MAX)
    throw invalid(
      `The partition has more than ${RANGE_TOMBSTONES_MAX} deleted ranges: delete larger ranges, or the partition`,
    );
  const body = encodeRow(left);
  if (body.length > ROW_BYTES_MAX)
    throw new DomainError(
      'tooLarge',
      `A row has at most ${ROW_BYTES_MAX} bytes, not ${body.length}`,
    );
  const seen = liveRow(left, over, nowSec);
  if (isHeader) return { kind: 'put', body, ttlSec: -1, flags: ITEM_FLAGS.header };
  if (seen === undefined) return shadowOf(body, graceSec);
  return { kind: 'put', body, ttlSec: seen.expiresAtSec === 0 ? -1 : seen.expiresAtSec - nowSec };
}

/** A row of tombstones, which only later writes with older timestamps meet. */
function shadowOf(body: Bytes, graceSec: number): Outcome {
  return { kind: 'put', body, ttlSec: Math.max(1, graceSec), flags: ITEM_FLAGS.shadow };
}

function encodeFound({ row, header, rowKey }: FoundRows): Bytes {
  const writer = new BodyWriter();
  writer.bytes(row === undefined ? null : encodeRow(row));
  writer.bytes(header === undefined ? null : encodeRow(header));
  return writer.bytes(rowKey).finish();
}

export function decodeFound(bytes: Bytes): FoundRows {
  const reader = new BodyReader(bufferOf(bytes));
  const [row, header] = [reader.bytes(), reader.bytes()];
  return {
    row: row === null ? undefined : decodeRow(row),
    header: header === null ? undefined : decodeRow(header),
    rowKey: reader.bytes() as Bytes,
  };
}
