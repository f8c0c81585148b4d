/** Carries out writes: one command where they are of one partition, one for each partition otherwise. */
import { type Bytes, bytesToLatin1, DomainError } from '../../../base/index.ts';
import { TransactionError, type UpdateReply } from '../../../partition/index.ts';
import type { ItemWrite, Operation } from '../../../service/index.ts';
import type { Value } from '../../../value/index.ts';
import { mergeRows } from '../cells/merge.ts';
import { encodeMutation } from '../cells/mutation.ts';
import type { Row } from '../cells/row.ts';
import { decodeRow } from '../cells/row-codec.ts';
import { CHECK, ConditionFailed, decodeFound, type FoundRows, WRITE } from '../cells/updaters.ts';
import { invalid } from '../errors.ts';
import { BATCH_BYTES_MAX, BATCH_STATEMENTS_MAX, SCAN_ITEMS_MAX } from '../limits.ts';
import { addressValues, encodeClustering, HEADER_KEY } from '../schema/table-keys.ts';
import { applyConditionalWithViews, applyWithViews, hasViews } from '../views/apply-with-views.ts';
import type { Call } from './plan.ts';
import { keyColumns, type RowWrite } from './row-write.ts';
import { isHeader } from './select/row-source.ts';
import { checkWrite } from './write-checks.ts';

const BOUNDS = { operationsMax: BATCH_STATEMENTS_MAX, bytesMax: BATCH_BYTES_MAX };

/** Times a logged batch is begun again because others wrote its rows. */
const BATCH_ATTEMPTS_MAX = 20;

/** Partitions of a batch that are written at the same time. */
const CONCURRENT_PARTITIONS = 32;

/** Rows that one command clears of what a deletion hides. */
const CLEARED_ROWS = 100;

/**
 * Writes without conditions. Those of one partition are all made or none.
 * @param isLogged - all writes are made or none, over partitions and tables.
 */
export async function applyWrites(
  writes: readonly RowWrite[],
  call: Call,
  isLogged = false,
): Promise<void> {
  for (const write of writes) checkWrite(write);
  if (hasViews(writes)) return applyWithViews(writes, call);
  const merged = mergeSame(writes);
  const groups = byPartition(merged);
  if (isLogged && groups.length > 1) await applyTogether(merged, call);
  else await applyGroups(groups, call);
  for (const write of merged) if (write.hides !== undefined) await clearHidden(write, call);
}

async function applyGroups(groups: readonly (readonly RowWrite[])[], call: Call): Promise<void> {
  for (let at = 0; at < groups.length; at += CONCURRENT_PARTITIONS) {
    const some = groups.slice(at, at + CONCURRENT_PARTITIONS);
    await Promise.all(some.map((group) => applyGroup(group, call)));
  }
}

/** One transaction, again where others have written the same rows meanwhile. */
async function applyTogether(writes: readonly RowWrite[], call: Call): Promise<void> {
  const { transactions } = call.environment.service;
  for (let attempt = 1; ; attempt++) {
    const transaction = transactions.begin();
    try {
      for (const write of writes) await transaction.write(write.table.container, itemWrite(write));
      const { charge } = await transaction.commit();
      call.spend(charge);
      return;
    } catch (error) {
      await transaction.abort();
      const isConflict = error instanceof DomainError && error.code === 'retryWith';
      if (!isConflict || attempt === BATCH_ATTEMPTS_MAX) throw error;
    }
  }
}

async function applyGroup(group: readonly RowWrite[], call: Call): Promise<void> {
  const { items } = call.environment.service;
  const [first] = group;
  if (first === undefined) return;
  const { container } = first.table;
  if (group.length === 1) {
    const reply = await items.write(container, itemWrite(first));
    call.spend(reply.charge);
    return;
  }
  const operations = group.map((write): Operation => itemWrite(write));
  checkBytes(group.map((write) => write.change.columns.size));
  const reply = await items.transact(
    container,
    partitionKeyOf(first),
    operations,
    undefined,
    BOUNDS,
  );
  call.spend(reply.charge);
}

function checkBytes(sizes: readonly number[]): void {
  if (sizes.length > BATCH_STATEMENTS_MAX)
    throw invalid(`A batch has at most ${BATCH_STATEMENTS_MAX} rows of one partition`);
}

/**
 * Writes of one partition under conditions, which must all hold. Undefined: they were applied; otherwise the rows that
 * made a condition fail.
 */
export async function applyConditional(
  writes: readonly RowWrite[],
  call: Call,
): Promise<FoundRows | undefined> {
  const { items } = call.environment.service;
  const [first] = writes;
  if (first === undefined) return undefined;
  for (const write of writes) checkWrite(write);
  const { container } = first.table;
  if (byPartition(writes).length > 1)
    throw invalid('Batch with conditions cannot span multiple partitions');
  if (hasViews(writes)) return applyConditionalWithViews(writes, call);
  if (writes.length === 1) {
    const reply = await items.write(container, itemWrite(first));
    call.spend(reply.charge);
    return foundOf(reply.effect.reply);
  }
  const checks = writes
    .filter(({ conditions }) => conditions !== 'none')
    .map((write) => ({ ...itemWrite(write), updater: CHECK }));
  const unconditional = mergeSame(
    writes.map((write) => ({ ...write, conditions: 'none' as const })),
  );
  const operations: Operation[] = [...checks, ...unconditional.map(itemWrite)];
  try {
    const reply = await items.transact(
      container,
      partitionKeyOf(first),
      operations,
      undefined,
      BOUNDS,
    );
    call.spend(reply.charge);
    return undefined;
  } catch (error) {
    const refusal = error instanceof TransactionError ? error.refusal : error;
    if (!(refusal instanceof ConditionFailed)) throw error;
    call.spend(error instanceof DomainError ? (error.responseInfo?.charge ?? 0) : 0);
    return decodeFound(refusal.found);
  }
}

function foundOf(reply: UpdateReply | undefined): FoundRows | undefined {
  return reply instanceof Uint8Array ? decodeFound(reply) : undefined;
}

export function partitionKeyOf({ table, partition }: RowWrite): readonly Value[] {
  return addressValues(table.schema.partitionKey, partition);
}

export function itemWrite(write: RowWrite): ItemWrite & { readonly kind: 'update' } {
  const { table, clustering, change, conditions } = write;
  const { schema } = table;
  const args = encodeMutation({
    change,
    rowKey: clustering === undefined ? new Uint8Array(0) : encodeClustering(schema, clustering),
    graceSec: schema.graceSec,
    conditions,
    lists: write.lists,
  });
  const rowKey =
    clustering === undefined ? HEADER_KEY : addressValues(schema.clustering, clustering);
  const hasHeader = clustering !== undefined && schema.clustering.length > 0;
  return {
    kind: 'update',
    partitionKey: partitionKeyOf(write),
    rowKey,
    updater: WRITE,
    args,
    createsAbsent: true,
    ...(hasHeader ? { alsoReads: [HEADER_KEY] } : {}),
  };
}

/** Changes of the same row become one: merging is what the row would do with them. */
export function mergeSame(writes: readonly RowWrite[]): readonly RowWrite[] {
  if (writes.length < 2) return writes;
  const merged = new Map<string, RowWrite>();
  const rest: RowWrite[] = [];
  for (const write of writes) {
    if (write.table.schema.isCounter || write.hides !== undefined) {
      rest.push(write);
      continue;
    }
    const key = `${partitionText(write)}/${write.clustering === undefined ? 'header' : textOf(write.clustering)}`;
    const before = merged.get(key);
    merged.set(
      key,
      before === undefined
        ? write
        : {
            ...write,
            change: mergeRows(before.change, write.change),
            lists: [...before.lists, ...write.lists],
          },
    );
  }
  return [...merged.values(), ...rest];
}

function byPartition(writes: readonly RowWrite[]): readonly (readonly RowWrite[])[] {
  const groups = new Map<string, RowWrite[]>();
  for (const write of writes) {
    const key = partitionText(write);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [write]);
    else group.push(write);
  }
  return [...groups.values()];
}

export function partitionText({ table, partition }: RowWrite): string {
  return `${table.container.databaseRid}/${table.container.rid}/${textOf(partition)}`;
}

function textOf(values: readonly Bytes[]): string {
  return values.map(bytesToLatin1).join('\u0100');
}

/** Removes rows, or parts of them, that the deletion in their header hides: they would only use space. */
export async function clearHidden(write: RowWrite, call: Call): Promise<void> {
  const { table, hides, partition } = write;
  const { schema, container } = table;
  const { items } = call.environment.service;
  const boundOf = (limit: NonNullable<typeof hides>['from']) =>
    limit === undefined
      ? undefined
      : { values: addressValues(schema.clustering, limit.values), isInclusive: limit.isInclusive };
  let continuation: string | undefined;
  do {
    const page = await items.scan(container, {
      partitionKey: partitionKeyOf(write),
      rows: { from: boundOf(hides?.from), to: boundOf(hides?.to) },
      continuation,
      limit: Math.min(CLEARED_ROWS, SCAN_ITEMS_MAX),
    });
    call.spend(page.charge);
    continuation = page.continuation;
    const rows = page.items
      .map(({ body }) => decodeRow(body))
      .filter((row) => !isHeader(row, schema));
    if (rows.length === 0) continue;
    const writes = rows.map((row): ItemWrite => {
      const clustering = row.clustering.map(({ value }) => value);
      const change = {
        partitionKey: keyColumns(schema.partitionKey, partition),
        clustering: keyColumns(schema.clustering, clustering),
        columns: new Map(),
        ranges: [],
      };
      return itemWrite({ ...write, clustering, change, lists: [], hides: undefined });
    });
    const reply = await items.sequence(container, writes, 'each');
    call.spend(reply.charge);
    for (const result of reply.results) if ('error' in result) throw result.error;
  } while (continuation !== undefined);
  const reply = await items.write(container, itemWrite({ ...write, change: settled(write, call) }));
  call.spend(reply.charge);
}

/** The same deletion, which the header may forget after the grace period: nothing is left that it hides. */
function settled({ change }: RowWrite, { nowSec }: Call): Row {
  const { deletion, ranges } = change;
  return {
    ...change,
    ...(deletion === undefined ? {} : { deletion: { ...deletion, atSec: nowSec } }),
    ranges: ranges.map((range) => ({ ...range, atSec: nowSec })),
  };
}
