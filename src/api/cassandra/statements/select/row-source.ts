/** Rows of a table in pages: of partitions that a statement names, or of a range of tokens. */
import { type Bytes, compareBytes, equalBytes } from '../../../../base/index.ts';
import type { ContainerRecord } from '../../../../catalog/index.ts';
import type { Item } from '../../../../partition/index.ts';
import { epkOfToken, epkToHex, type Value } from '../../../../value/index.ts';
import type { Row } from '../../cells/row.ts';
import { decodeRow } from '../../cells/row-codec.ts';
import type { Table } from '../../schema/keyspaces.ts';
import { addressValues, HEADER_KEY } from '../../schema/table-keys.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import { TOKEN_MAX, TOKEN_MIN } from '../../types/token.ts';
import type { Call } from '../plan.ts';
import type { RowLimit, Slice } from '../where/key-selection.ts';
import type { TokenBound } from '../where/token-bounds.ts';
import { FoundRow, foundRow, headerOf, type PartitionHeader } from './found-row.ts';
import { BEGINNING, type Position } from './paging-state.ts';

export interface RowPage {
  readonly rows: readonly FoundRow[];
  /** Items that were read for it. */
  readonly itemCount: number;
  /** Undefined at the end. */
  readonly next: Position | undefined;
  /** The position behind a row of it, by its place, where another row follows. */
  behind(row: number): Position;
}

interface Scanned {
  readonly items: readonly Item[];
  readonly continuation: string | undefined;
  /** Undefined for a read of one row, which has nothing behind it. */
  readonly continuationBehind: ((item: Item) => string) | undefined;
}

const NO_ROWS = {
  rows: [],
  itemCount: 0,
  behind: (): Position => BEGINNING,
};

export interface RowSource {
  /** Reads at most `limit` items from a position on. */
  page(position: Position, limit: number, call: Call): Promise<RowPage>;
  /** The position behind the rest of a partition. */
  afterPartition(position: Position): Position | undefined;
}

interface KeyedSelection {
  readonly partitions: readonly (readonly Bytes[])[];
  /** In the order of the stored rows. */
  readonly slices: readonly Slice[];
  readonly isReversed: boolean;
  /** Whether a partition without rows but with static columns counts as a row. */
  readonly includesStaticOnly: boolean;
}

export class KeyedRows implements RowSource {
  readonly #table: Table;
  readonly #selection: KeyedSelection;
  readonly #slices: readonly Slice[];
  #header: { readonly partition: number; readonly header: PartitionHeader | undefined } | undefined;

  constructor(table: Table, selection: KeyedSelection) {
    this.#table = table;
    this.#selection = selection;
    this.#slices = selection.isReversed ? [...selection.slices].reverse() : selection.slices;
  }

  async page(position: Position, limit: number, call: Call): Promise<RowPage> {
    const { schema, container } = this.#table;
    const { includesStaticOnly } = this.#selection;
    const key = this.#selection.partitions[position.partition];
    const slice = this.#slices[position.slice];
    if (key === undefined || slice === undefined)
      return { ...NO_ROWS, next: this.#nextPartition(position) };
    const partitionKey = addressValues(schema.partitionKey, key);
    const header = await this.#headerAt(position.partition, partitionKey, call);
    const scanned = await this.#scan(container, partitionKey, slice, position, limit, call);
    const rows: FoundRow[] = [];
    const foundItems: Item[] = [];
    for (const item of scanned.items) {
      const row = decodeRow(item.body);
      if (isHeader(row, schema)) continue;
      const found = foundRow(row, header, schema, call.nowSec);
      if (found === undefined) continue;
      rows.push(found);
      foundItems.push(item);
    }
    const hasRows = position.hasRows || rows.length > 0;
    const next = this.#next({ ...position, hasRows }, scanned.continuation);
    const isLast = next === undefined || next.partition !== position.partition;
    if (isLast && !hasRows && includesStaticOnly && header?.statics !== undefined)
      rows.push(new FoundRow({ ...header.statics, values: new Map() }, header.statics, schema));
    const behind = (row: number): Position => {
      const continuation = scanned.continuationBehind?.(foundItems[row] as Item);
      return { ...position, key, continuation, hasRows: true };
    };
    return { rows, itemCount: scanned.items.length + 1, next, behind };
  }

  afterPartition(position: Position): Position | undefined {
    return this.#nextPartition(position);
  }

  async #headerAt(
    partition: number,
    partitionKey: readonly Value[],
    call: Call,
  ): Promise<PartitionHeader | undefined> {
    if (this.#header?.partition === partition) return this.#header.header;
    const header = await readHeader(this.#table, partitionKey, call);
    this.#header = { partition, header };
    return header;
  }

  /** A slice of one row is a read. */
  async #scan(
    container: ContainerRecord,
    partitionKey: readonly Value[],
    slice: Slice,
    { continuation }: Position,
    limit: number,
    call: Call,
  ): Promise<Scanned> {
    const { clustering } = this.#table.schema;
    const { items } = call.environment.service;
    if (isOneRow(slice, clustering.length)) {
      const rowKey = addressValues(clustering, slice.from?.values ?? []);
      const reply = await items.read(container, { partitionKey, rowKey }, undefined);
      call.spend(reply.charge);
      return {
        items: reply.item === undefined ? [] : [reply.item],
        continuation: undefined,
        continuationBehind: undefined,
      };
    }
    const boundOf = (limitOf: RowLimit | undefined) =>
      limitOf === undefined
        ? undefined
        : { values: addressValues(clustering, limitOf.values), isInclusive: limitOf.isInclusive };
    const page = await items.scan(container, {
      partitionKey,
      rows: { from: boundOf(slice.from), to: boundOf(slice.to) },
      isReversed: this.#selection.isReversed,
      continuation,
      limit,
    });
    call.spend(page.charge);
    return page;
  }

  #next(position: Position, continuation: string | undefined): Position | undefined {
    const key = this.#selection.partitions[position.partition];
    if (continuation !== undefined) return { ...position, key, continuation };
    if (position.slice + 1 < this.#slices.length)
      return { ...position, key, slice: position.slice + 1, continuation: undefined };
    return this.#nextPartition(position);
  }

  #nextPartition({ partition }: Position): Position | undefined {
    return partition + 1 < this.#selection.partitions.length
      ? { ...BEGINNING, partition: partition + 1 }
      : undefined;
  }
}

function isOneRow({ from, to }: Slice, columns: number): boolean {
  if (columns === 0) return true;
  return (
    from !== undefined &&
    to !== undefined &&
    from.isInclusive &&
    to.isInclusive &&
    from.values.length === columns &&
    to.values.length === columns &&
    from.values.every((value, at) => equalBytes(value, to.values[at] as Bytes))
  );
}

/** All rows whose partitions have tokens in a range, in the order of tokens. */
export class ScannedRows implements RowSource {
  readonly #table: Table;
  readonly #range: { readonly min: string; readonly max: string } | undefined;
  readonly #includesStaticOnly: boolean;

  constructor(
    table: Table,
    tokens: readonly TokenBound[],
    includesStaticOnly: boolean,
    call: Call,
  ) {
    this.#table = table;
    this.#range = rangeOf(tokens, call);
    this.#includesStaticOnly = includesStaticOnly;
  }

  async page(position: Position, limit: number, call: Call): Promise<RowPage> {
    const { schema, container } = this.#table;
    if (this.#range === undefined) return { ...NO_ROWS, next: undefined };
    const page = await call.environment.service.items.scan(container, {
      range: this.#range,
      includesInternal: true,
      continuation: position.continuation,
      limit,
    });
    call.spend(page.charge);
    const cursor = new PartitionCursor(this.#table, this.#includesStaticOnly, position);
    await cursor.start(call);
    const rows: FoundRow[] = [];
    // For each row, the last item that was read for it; -1: one of the page before.
    const lastItems: number[] = [];
    for (const [at, item] of page.items.entries()) {
      const row = decodeRow(item.body);
      for (const left of cursor.enter(row, call.nowSec)) {
        rows.push(left);
        lastItems.push(at - 1);
      }
      if (isHeader(row, schema)) continue;
      const found = foundRow(row, cursor.header, schema, call.nowSec);
      if (found === undefined) continue;
      cursor.hasRows = true;
      rows.push(found);
      lastItems.push(at);
    }
    const isEnd = page.continuation === undefined;
    if (isEnd) rows.push(...cursor.leave());
    const { key, hasRows } = cursor;
    const next = isEnd
      ? undefined
      : { partition: 0, slice: 0, continuation: page.continuation, key, hasRows };
    const behind = (row: number): Position => {
      const item = page.items[lastItems[row] ?? -1];
      return {
        ...position,
        continuation: item === undefined ? position.continuation : page.continuationBehind(item),
        key: rows[row]?.partitionKey.map(({ value }) => value),
        hasRows: true,
      };
    };
    return { rows, itemCount: page.items.length, next, behind };
  }

  /** A scan reads on: rows of the rest of the partition are left out. */
  afterPartition(position: Position): Position | undefined {
    return position;
  }
}

/** Follows a scan from partition to partition; the header comes before the rows. */
class PartitionCursor {
  readonly #table: Table;
  readonly #includesStaticOnly: boolean;
  header: PartitionHeader | undefined;
  key: readonly Bytes[] | undefined;
  hasRows: boolean;

  constructor(table: Table, includesStaticOnly: boolean, { key, hasRows }: Position) {
    this.#table = table;
    this.#includesStaticOnly = includesStaticOnly;
    this.key = key;
    this.hasRows = hasRows;
  }

  /** Goes on in the partition where the page before ended. */
  async start(call: Call): Promise<void> {
    if (this.key === undefined) return;
    const partitionKey = addressValues(this.#table.schema.partitionKey, this.key);
    this.header = await readHeader(this.#table, partitionKey, call);
  }

  /** The next row or header: where a new partition begins, what was left of the last one. */
  enter(row: Row, nowSec: number): readonly FoundRow[] {
    const key = row.partitionKey.map(({ value }) => value);
    const isSame =
      this.key !== undefined &&
      key.every((value, at) => equalBytes(value, this.key?.[at] as Bytes));
    if (isSame) return [];
    const last = this.leave();
    this.key = key;
    this.hasRows = false;
    this.header = isHeader(row, this.#table.schema)
      ? headerOf(row, this.#table.schema, nowSec)
      : undefined;
    return last;
  }

  /** A partition that has static columns and no rows is one row. */
  leave(): readonly FoundRow[] {
    const statics = this.header?.statics;
    if (this.hasRows || statics === undefined || !this.#includesStaticOnly) return [];
    return [new FoundRow({ ...statics, values: new Map() }, statics, this.#table.schema)];
  }
}

export function isHeader(row: Row, { clustering }: TableSchema): boolean {
  return clustering.length > 0 && row.clustering.length === 0;
}

/** Tables without clustering columns have no header: their partitions are their rows. */
export async function readHeader(
  { schema, container }: Table,
  partitionKey: readonly Value[],
  call: Call,
): Promise<PartitionHeader | undefined> {
  if (schema.clustering.length === 0) return undefined;
  const bound = { values: HEADER_KEY, isInclusive: true };
  const page = await call.environment.service.items.scan(container, {
    partitionKey,
    rows: { from: bound, to: bound },
    includesInternal: true,
    limit: 1,
  });
  call.spend(page.charge);
  const [item] = page.items;
  return item === undefined ? undefined : headerOf(decodeRow(item.body), schema, call.nowSec);
}

/** The part of the hash space with these tokens; undefined: none. */
export function rangeOf(
  tokens: readonly TokenBound[],
  call: Call,
): { min: string; max: string } | undefined {
  let min: Bytes = new Uint8Array(0);
  let max: Bytes = Uint8Array.of(0xff);
  const raise = (to: Bytes): void => {
    if (compareBytes(to, min) > 0) min = to;
  };
  const lower = (to: Bytes): void => {
    if (compareBytes(to, max) < 0) max = to;
  };
  for (const { operator, token } of tokens) {
    const at = token(call);
    // The least token as an upper end stands for the end of the ring.
    if (at === TOKEN_MIN && operator.startsWith('<')) continue;
    const behind = at === TOKEN_MAX ? Uint8Array.of(0xff) : epkOfToken(at + 1n);
    if (operator === '>') raise(behind);
    if (operator === '>=' || operator === '=') raise(epkOfToken(at));
    if (operator === '<') lower(epkOfToken(at));
    if (operator === '<=' || operator === '=') lower(behind);
  }
  return compareBytes(min, max) < 0 ? { min: epkToHex(min), max: epkToHex(max) } : undefined;
}
