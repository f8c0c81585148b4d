/** A write of one row or of one partition header: what INSERT, UPDATE and DELETE come down to. */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import { mergeCells } from '../cells/merge.ts';
import type { ListChange, RowConditions } from '../cells/mutation.ts';
import type {
  Cell,
  Column,
  Deletion,
  KeyColumn,
  Liveness,
  RangeTombstone,
  Row,
} from '../cells/row.ts';
import { invalid } from '../errors.ts';
import { ELEMENTS_MAX, TTL_SEC_MAX } from '../limits.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import { type CqlType, isMultiCell } from '../types/cql-type.ts';
import { componentsOf, elementsOf, entriesOf } from '../types/values.ts';
import type { Call } from './plan.ts';
import type { Slice } from './where/key-selection.ts';

export interface RowWrite {
  readonly table: Table;
  /** Values of the partition key. */
  readonly partition: readonly Bytes[];
  /** Values of the clustering columns; undefined for the header. */
  readonly clustering: readonly Bytes[] | undefined;
  readonly change: Row;
  readonly conditions: RowConditions;
  /** Changes of lists that depend on what is in them. */
  readonly lists: readonly ListChange[];
  /** Rows that the deletion in this header hides: they are removed afterwards. */
  readonly hides: Slice | undefined;
}

/** When a write happens, and how long it lasts. */
export interface WriteTimes {
  readonly timestamp: bigint;
  readonly ttlSec: number;
  readonly nowSec: number;
}

function checkCount(column: string, count: number): void {
  if (count > ELEMENTS_MAX)
    throw invalid(`The collection ${column} has ${count} elements; ${ELEMENTS_MAX} is the most`);
}

/** Collects the cells of one change. */
export class ChangeBuilder {
  readonly #times: WriteTimes;
  readonly #columns = new Map<string, Column>();
  #liveness: Liveness | undefined;
  #deletion: Deletion | undefined;
  readonly #ranges: RangeTombstone[] = [];
  readonly lists: ListChange[] = [];

  constructor(times: WriteTimes) {
    this.#times = times;
  }

  get isEmpty(): boolean {
    return (
      this.#columns.size === 0 &&
      this.#liveness === undefined &&
      this.#deletion === undefined &&
      this.#ranges.length === 0 &&
      this.lists.length === 0
    );
  }

  markAlive(): void {
    const { timestamp, ttlSec, nowSec } = this.#times;
    this.#liveness = { timestamp, ttlSec, expiresAtSec: ttlSec === 0 ? 0 : nowSec + ttlSec };
  }

  deleteRow(): void {
    this.#deletion = { timestamp: this.#times.timestamp, atSec: this.#times.nowSec };
  }

  /** In a header. It counts as made when the rows that it hides are gone. */
  deletePartition(): void {
    this.#deletion = { timestamp: this.#times.timestamp, atSec: 0 };
  }

  deleteRange(start: Bytes, end: Bytes | undefined): void {
    this.#ranges.push({ start, end, timestamp: this.#times.timestamp, atSec: 0 });
  }

  /** Null deletes. A collection with cells replaces all of its elements. */
  set({ name, type }: ColumnSchema, value: Bytes | null): void {
    if (!isMultiCell(type)) {
      this.#columns.set(name, { type, cell: this.#cell(value) });
      return;
    }
    const { timestamp, nowSec } = this.#times;
    const elements = value === null ? [] : elementsOfValue(type, value);
    checkCount(name, elements.length);
    const cells = elements.map(([path, element]) => [path, this.#cell(element)] as const);
    this.#columns.set(name, {
      type,
      // One less, so that the elements of this very write stay.
      deletion: { timestamp: value === null ? timestamp : timestamp - 1n, atSec: nowSec },
      ...(cells.length === 0 ? {} : { elements: new Map(cells) }),
    });
  }

  /** Adds or deletes elements of a collection. */
  setElements(
    { name, type }: ColumnSchema,
    elements: readonly (readonly [string, Bytes | null])[],
  ): void {
    checkCount(name, elements.length);
    // The order of the assignments of a list matters once one of them depends on what is in it.
    if (this.lists.some(({ column }) => column === name)) {
      const values = elements.flatMap(([path, value]) => [
        Buffer.from(path, 'latin1'),
        value ?? EMPTY,
      ]);
      this.lists.push({ column: name, type, kind: 'put', index: 0, values, ...this.#times });
      return;
    }
    const before = this.#columns.get(name);
    const cells = new Map(before?.elements);
    for (const [path, value] of elements)
      cells.set(path, mergeCells(cells.get(path), this.#cell(value)));
    this.#columns.set(name, { ...before, type, elements: cells });
  }

  changeList(
    { name, type }: ColumnSchema,
    change: Pick<ListChange, 'kind' | 'index' | 'values'>,
  ): void {
    this.lists.push({ column: name, type, ...change, ...this.#times });
  }

  add({ name, type }: ColumnSchema, value: Bytes): void {
    const { timestamp } = this.#times;
    this.#columns.set(name, {
      type,
      cell: { timestamp, value, ttlSec: 0, localSec: 0, isAddition: true },
    });
  }

  finish(partitionKey: readonly KeyColumn[], clustering: readonly KeyColumn[]): Row {
    return {
      partitionKey,
      clustering,
      ...(this.#liveness === undefined ? {} : { liveness: this.#liveness }),
      ...(this.#deletion === undefined ? {} : { deletion: this.#deletion }),
      columns: this.#columns,
      ranges: this.#ranges,
    };
  }

  #cell(value: Bytes | null): Cell {
    const { timestamp, ttlSec, nowSec } = this.#times;
    if (value === null) return { timestamp, value: undefined, ttlSec: 0, localSec: nowSec };
    return { timestamp, value, ttlSec, localSec: ttlSec === 0 ? 0 : nowSec + ttlSec };
  }
}

/** Paths and values of the elements of a whole collection. */
function elementsOfValue(type: CqlType, value: Bytes): readonly (readonly [string, Bytes])[] {
  switch (type.kind) {
    case 'set':
      return elementsOf(value).map((element) => [bytesToLatin1(element as Bytes), EMPTY]);
    case 'map':
      return entriesOf(value).map(([key, element]) => [
        bytesToLatin1(key as Bytes),
        element as Bytes,
      ]);
    case 'list':
      return elementsOf(value).map((element, at) => [listPath(0n, at, false), element as Bytes]);
    case 'user':
      return componentsOf(type, value).flatMap((field, at) =>
        field === undefined ? [] : [[fieldPath(at), field] as const],
      );
    default:
      return [];
  }
}

/** The path of a field of a type of a client. */
export function fieldPath(at: number): string {
  return String.fromCharCode(at >> 8, at & 0xff);
}

const EMPTY = new Uint8Array(0);

/**
 * The place of an element in a list: appended ones by time and number, prepended ones before them by descending time.
 * @param microseconds - of the write.
 */
function listPath(microseconds: bigint, at: number, isPrepended: boolean): string {
  const bytes = Buffer.allocUnsafe(13);
  bytes[0] = isPrepended ? 0x40 : 0x80;
  bytes.writeBigInt64BE(isPrepended ? ~microseconds : microseconds, 1);
  bytes.writeUInt32BE(at, 9);
  return bytesToLatin1(bytes);
}

/** The places of new elements of a list. Those of one request never meet: each takes numbers of its own. */
export function listPaths(
  count: number,
  isPrepended: boolean,
  { serverTimestamp, numbers }: Call,
): readonly string[] {
  const start = numbers.next;
  numbers.next += count;
  return Array.from({ length: count }, (_, at) =>
    listPath(
      serverTimestamp,
      isPrepended ? 0xffffffff - (start + count - 1 - at) : start + at,
      isPrepended,
    ),
  );
}

export function keyColumns(
  columns: readonly ColumnSchema[],
  values: readonly Bytes[],
): readonly KeyColumn[] {
  return values.map((value, at) => {
    const { name, type } = columns[at] as ColumnSchema;
    return { name, type, value };
  });
}

/** The seconds of USING TTL, or those of the table. */
export function ttlOf(given: bigint | undefined | null, { defaultTtlSec }: TableSchema): number {
  if (given === undefined) return defaultTtlSec;
  if (given === null) return 0;
  if (given < 0n) throw invalid(`A TTL must be greater or equal to 0, but was ${given}`);
  if (given > BigInt(TTL_SEC_MAX))
    throw invalid(`ttl is too large. requested (${given}) maximum (${TTL_SEC_MAX})`);
  return Number(given);
}
