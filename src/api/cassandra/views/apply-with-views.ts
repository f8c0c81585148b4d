/** Writes of tables that have materialized views: one transaction of base rows and rows of views. */
import { type Bytes, bufferOf, DomainError } from '../../../base/index.ts';
import { TransactionError, type UpdateReply } from '../../../partition/index.ts';
import type { ItemWrite } from '../../../service/index.ts';
import { deletionOver } from '../cells/compact.ts';
import type { Row } from '../cells/row.ts';
import { decodeRow, encodeRow } from '../cells/row-codec.ts';
import { CHECK, ConditionFailed, decodeFound, type FoundRows } from '../cells/updaters.ts';
import { SCAN_ITEMS_MAX } from '../limits.ts';
import type { Table } from '../schema/keyspaces.ts';
import { addressValues, encodeClustering, HEADER_KEY } from '../schema/table-keys.ts';
import {
  clearHidden,
  itemWrite,
  mergeSame,
  partitionKeyOf,
  partitionText,
} from '../statements/apply-writes.ts';
import type { Call } from '../statements/plan.ts';
import { keyColumns, type RowWrite } from '../statements/row-write.ts';
import { isHeader } from '../statements/select/row-source.ts';
import { BodyReader } from '../wire/body-reader.ts';
import { viewFilter } from './view-filter.ts';
import { type ViewFilter, type ViewRow, viewRowOf } from './view-row.ts';
import { REPLACE, SEE } from './view-updaters.ts';

type Transaction = ReturnType<Call['environment']['service']['transactions']['begin']>;

/** Times a transaction is begun again because others wrote its rows. */
const ATTEMPTS_MAX = 100;

/** Rows of a deleted range that one transaction deletes. */
const DELETED_ROWS = 50;

export function hasViews(writes: readonly RowWrite[]): boolean {
  return writes.some(({ table }) => table.schema.views.length > 0);
}

/** All writes are made or none, except that deletions of ranges delete their rows before. */
export function applyWithViews(writes: readonly RowWrite[], call: Call): Promise<void> {
  return call.environment.viewLocks.run(writes.map(partitionText), () => applyAll(writes, call));
}

async function applyAll(writes: readonly RowWrite[], call: Call): Promise<void> {
  for (const write of writes)
    if (write.hides !== undefined && write.table.schema.views.length > 0)
      await eachHidden(write, call, (rows) => deleteRows(write, rows, call));
  const merged = mergeSame(writes);
  await inTransaction(call, async (transaction) => {
    for (const write of merged) await writeRow(transaction, write, call);
  });
  for (const write of writes) {
    if (write.hides === undefined) continue;
    if (write.table.schema.views.length > 0)
      await eachHidden(write, call, (rows) => repairRows(write.table, rows, call));
    await clearHidden(write, call);
  }
}

/** The same under conditions; the rows that made one fail, or undefined. */
export function applyConditionalWithViews(
  writes: readonly RowWrite[],
  call: Call,
): Promise<FoundRows | undefined> {
  return call.environment.viewLocks.run(writes.map(partitionText), () =>
    applyAllConditional(writes, call),
  );
}

async function applyAllConditional(
  writes: readonly RowWrite[],
  call: Call,
): Promise<FoundRows | undefined> {
  try {
    return await inTransaction(call, async (transaction) => {
      const [first] = writes;
      if (writes.length === 1 && first !== undefined) {
        const reply = await writeRow(transaction, first, call);
        return reply instanceof Uint8Array ? decodeFound(reply) : undefined;
      }
      for (const write of writes)
        if (write.conditions !== 'none')
          await transaction.write(write.table.container, { ...itemWrite(write), updater: CHECK });
      const plain = writes.map((write) => ({ ...write, conditions: 'none' as const }));
      for (const write of mergeSame(plain)) await writeRow(transaction, write, call);
      return undefined;
    });
  } catch (error) {
    const refusal = error instanceof TransactionError ? error.refusal : error;
    if (!(refusal instanceof ConditionFailed)) throw error;
    return decodeFound(refusal.found);
  }
}

async function inTransaction<T>(
  call: Call,
  run: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { transactions } = call.environment.service;
  for (let attempt = 1; ; attempt++) {
    const transaction = transactions.begin();
    try {
      const result = await run(transaction);
      const { charge } = await transaction.commit();
      call.spend(charge);
      return result;
    } catch (error) {
      await transaction.abort();
      const isConflict = error instanceof DomainError && error.code === 'retryWith';
      if (!isConflict || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** A base row with the header over it, as the transaction sees them. */
interface Seen {
  readonly row: Row | undefined;
  readonly header: Row | undefined;
}

async function writeRow(
  transaction: Transaction,
  write: RowWrite,
  call: Call,
): Promise<UpdateReply | undefined> {
  const { table, clustering } = write;
  const { schema, container } = table;
  if (schema.views.length === 0 || clustering === undefined) {
    const { reply } = await transaction.write(container, itemWrite(write));
    return reply;
  }
  const before = await see(transaction, write);
  const { reply } = await transaction.write(container, itemWrite(write));
  const after = await see(transaction, write);
  await change(transaction, table, { before, after }, call);
  return reply;
}

async function see(
  transaction: Transaction,
  { table, partition, clustering }: Pick<RowWrite, 'table' | 'partition' | 'clustering'>,
): Promise<Seen> {
  const { schema, container } = table;
  const partitionKey = addressValues(schema.partitionKey, partition);
  const rowKey = addressValues(schema.clustering, clustering ?? []);
  const { reply } = await transaction.write(container, {
    kind: 'update',
    partitionKey,
    rowKey,
    updater: SEE,
    args: new Uint8Array(0),
    createsAbsent: true,
    ...(schema.clustering.length === 0 ? {} : { alsoReads: [HEADER_KEY] }),
  });
  const reader = new BodyReader(bufferOf(reply as Bytes));
  const next = (): Row | undefined => {
    const body = reader.isAtEnd ? null : reader.bytes();
    return body === null ? undefined : decodeRow(body);
  };
  return { row: next(), header: next() };
}

/** Brings all views from what they show of one row to what they must show. */
async function change(
  transaction: Transaction,
  base: Table,
  { before, after }: { readonly before: Seen; readonly after: Seen },
  call: Call,
): Promise<void> {
  for (const view of viewsOf(base, call)) {
    const filter = viewFilter(view, base.schema, call);
    const old = rowIn(view, base, before, filter, call);
    const next = rowIn(view, base, after, filter, call);
    if (old !== undefined && (next === undefined || !isSameKey(view, old, next)))
      await transaction.write(view.container, viewWrite(view, old, true));
    if (next !== undefined) await transaction.write(view.container, viewWrite(view, next, false));
  }
}

export function viewsOf({ schema }: Table, { environment: { keyspaces } }: Call): readonly Table[] {
  const keyspace = keyspaces.find(schema.keyspace);
  if (keyspace === undefined) return [];
  return schema.views.flatMap((name) => keyspaces.findTable(keyspace, name) ?? []);
}

function rowIn(
  view: Table,
  base: Table,
  { row, header }: Seen,
  filter: ViewFilter,
  { nowSec }: Call,
): ViewRow | undefined {
  if (row === undefined) return undefined;
  const clustering = row.clustering.map(({ value }) => value);
  const over = deletionOver(header, encodeClustering(base.schema, clustering));
  return viewRowOf(view.schema, row, filter, { over, nowSec });
}

function isSameKey({ schema }: Table, a: ViewRow, b: ViewRow): boolean {
  const textOf = ({ partition, clustering }: ViewRow): string =>
    JSON.stringify([
      addressValues(schema.partitionKey, partition),
      addressValues(schema.clustering, clustering),
    ]);
  return textOf(a) === textOf(b);
}

function viewWrite(
  { schema }: Table,
  { partition, clustering, row }: ViewRow,
  isGone: boolean,
): ItemWrite {
  return {
    kind: 'update',
    partitionKey: addressValues(schema.partitionKey, partition),
    rowKey: addressValues(schema.clustering, clustering),
    updater: REPLACE,
    args: isGone ? new Uint8Array(0) : encodeRow(row),
    createsAbsent: true,
  };
}

/** Hands over the rows that a deletion hides, some at a time. */
async function eachHidden(
  write: RowWrite,
  call: Call,
  visit: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  const { table, hides } = write;
  const { schema, container } = table;
  const boundOf = (limit: NonNullable<typeof hides>['from']) =>
    limit && {
      values: addressValues(schema.clustering, limit.values),
      isInclusive: limit.isInclusive,
    };
  let continuation: string | undefined;
  do {
    const page = await call.environment.service.items.scan(container, {
      partitionKey: partitionKeyOf(write),
      rows: { from: boundOf(hides?.from), to: boundOf(hides?.to) },
      continuation,
      limit: Math.min(DELETED_ROWS, SCAN_ITEMS_MAX),
    });
    call.spend(page.charge);
    continuation = page.continuation;
    const rows = page.items.map(({ body }) => decodeRow(body));
    await visit(rows.filter((row) => !isHeader(row, schema)));
  } while (continuation !== undefined);
}

/** Deletes rows with the time of the deletion that covers them. */
async function deleteRows(write: RowWrite, rows: readonly Row[], call: Call): Promise<void> {
  const { table, partition, change: header } = write;
  const timestamp = header.deletion?.timestamp ?? header.ranges[0]?.timestamp;
  if (rows.length === 0 || timestamp === undefined) return;
  const writes = rows.map((row): RowWrite => {
    const clustering = row.clustering.map(({ value }) => value);
    return {
      table,
      partition,
      clustering,
      conditions: 'none',
      hides: undefined,
      lists: [],
      change: {
        partitionKey: keyColumns(table.schema.partitionKey, partition),
        clustering: keyColumns(table.schema.clustering, clustering),
        deletion: { timestamp, atSec: call.nowSec },
        columns: new Map(),
        ranges: [],
      },
    };
  });
  await inTransaction(call, async (transaction) => {
    for (const one of writes) await writeRow(transaction, one, call);
  });
}

/** Makes views show what these base rows say, whatever they show now. */
export async function repairRows(
  table: Table,
  rows: readonly Row[],
  call: Call,
  only?: string,
): Promise<void> {
  if (rows.length === 0) return;
  await inTransaction(call, async (transaction) => {
    for (const row of rows) {
      const seen = await see(transaction, {
        table,
        partition: row.partitionKey.map(({ value }) => value),
        clustering: row.clustering.map(({ value }) => value),
      });
      for (const view of viewsOf(table, call)) {
        if (only !== undefined && view.schema.name !== only) continue;
        const filter = viewFilter(view, table.schema, call);
        const wanted = rowIn(view, table, seen, filter, call);
        // What the row would be if its header hid nothing is all that can be in the way.
        const covered = rowIn(view, table, { ...seen, header: undefined }, filter, call);
        if (covered !== undefined && (wanted === undefined || !isSameKey(view, covered, wanted)))
          await transaction.write(view.container, viewWrite(view, covered, true));
        if (wanted !== undefined)
          await transaction.write(view.container, viewWrite(view, wanted, false));
      }
    }
  });
}
