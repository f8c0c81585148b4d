/** Rows of a SELECT page by page, within its limits. */
import { type Bytes, bytesToLatin1 } from '../../../../base/index.ts';
import type { SelectStatement } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import { PAGE_BYTES_MAX, PAGE_ITEMS_MAX, ROWS_KEPT_MAX, SCAN_ITEMS_MAX } from '../../limits.ts';
import type { Table } from '../../schema/keyspaces.ts';
import type { Call, Cells } from '../plan.ts';
import type { Predicate } from '../where/filters.ts';
import type { Restrictions } from '../where/restrictions.ts';
import type { FoundRow } from './found-row.ts';
import {
  BEGINNING,
  decodePagingState,
  END,
  type PagingState,
  type Position,
} from './paging-state.ts';
import type { RowSource } from './row-source.ts';
import type { Selection } from './selection.ts';

export interface CompiledSelect {
  readonly statement: SelectStatement;
  readonly table: Table;
  readonly selection: Selection;
  readonly restrictions: Restrictions;
  readonly isReversed: boolean;
  /** Rows of several partitions are put in the order of their clustering columns. */
  readonly isSorted: boolean;
  /** Clustering columns that make a group; undefined without GROUP BY. */
  readonly groupedColumns: number | undefined;
  /** Names the statement in paging states. */
  readonly fingerprint: string;
  limit(call: Call): number | undefined;
  perPartitionLimit(call: Call): number | undefined;
}

/** Collects rows from a source until the page is full, the limit reached, or the source ends. */
export class PageBuilder {
  /** Where the next page begins; undefined where this one is the last. */
  state: PagingState | undefined;
  readonly #select: CompiledSelect;
  readonly #source: RowSource;
  readonly #call: Call;
  readonly #predicates: readonly Predicate[];
  readonly #perPartition: number | undefined;
  #partition = '';
  #left: number | undefined;
  #leftInPartition: number | undefined;

  constructor(select: CompiledSelect, source: RowSource, call: Call) {
    this.#select = select;
    this.#source = source;
    this.#call = call;
    this.#predicates = select.restrictions.filters.map((filter) => filter(call));
    this.#perPartition = select.statement.isDistinct ? 1 : select.perPartitionLimit(call);
    const { pagingState } = call;
    const start: PagingState =
      pagingState === undefined
        ? { ...BEGINNING, left: select.limit(call), leftInPartition: this.#perPartition }
        : decodePagingState(pagingState, select.fingerprint);
    this.state = start;
    this.#left = start.left;
    this.#leftInPartition = start.leftInPartition;
    if (start.key !== undefined) this.#partition = textOf(start.key);
  }

  async fill(): Promise<readonly Cells[]> {
    const { selection } = this.#select;
    const rows: Cells[] = [];
    let bytes = 0;
    await this.each((found) => {
      const row = selection.rowOf(found, this.#call);
      for (const cell of row) bytes += 4 + (cell?.length ?? 0);
      rows.push(row);
      return { rows: rows.length, isFull: bytes >= PAGE_BYTES_MAX };
    });
    return rows;
  }

  /** Hands over the rows of one page, or of all pages where the client asked for none. */
  async each(take: (found: FoundRow) => { rows: number; isFull: boolean }): Promise<void> {
    const { pageSize } = this.#call;
    const wanted = pageSize ?? Number.POSITIVE_INFINITY;
    const isEnded = this.state?.partition === END.partition;
    let position: Position | undefined = isEnded ? undefined : this.state;
    let rows = 0;
    let itemCount = 0;
    let isFull = false;
    while (position !== undefined && rows < wanted && !isFull) {
      const limit = Math.max(
        1,
        Math.min(wanted - rows, this.#left ?? SCAN_ITEMS_MAX, SCAN_ITEMS_MAX),
      );
      const page = await this.#source.page(position, limit, this.#call);
      itemCount += page.itemCount;
      for (const found of page.rows) {
        if (!this.#isWanted(found)) continue;
        const taken = take(found);
        rows = taken.rows;
        // Without pages there is no second answer that the rest could go into.
        isFull = pageSize !== undefined && taken.isFull;
        if (this.#left !== undefined && --this.#left === 0) {
          this.state = undefined;
          return;
        }
      }
      position =
        this.#leftInPartition === 0 && page.next ? this.#skip(position, page.next) : page.next;
      isFull ||= pageSize !== undefined && itemCount >= PAGE_ITEMS_MAX;
      if (pageSize === undefined && rows > ROWS_KEPT_MAX)
        throw invalid(`The result has more than ${ROWS_KEPT_MAX} rows: read it in pages`);
    }
    // A full page has a state, also where nothing follows: clients end when a page is not full.
    const next = position ?? (rows >= wanted ? END : undefined);
    this.state = next && {
      ...next,
      left: this.#left,
      // What is left belongs to the partition of the last row; the next page may begin in another one.
      leftInPartition:
        next.key !== undefined && textOf(next.key) === this.#partition
          ? this.#leftInPartition
          : this.#perPartition,
    };
  }

  #skip(position: Position, next: Position): Position | undefined {
    return next.partition === position.partition ? this.#source.afterPartition(next) : next;
  }

  #isWanted(found: FoundRow): boolean {
    if (this.#perPartition !== undefined) {
      const partition = textOf(found.partitionKey.map(({ value }) => value));
      if (partition !== this.#partition) {
        this.#partition = partition;
        this.#leftInPartition = this.#perPartition;
      }
      if (this.#leftInPartition === 0) return false;
    }
    if (!this.#predicates.every((matches) => matches((name) => found.value(name)))) return false;
    if (this.#leftInPartition !== undefined) this.#leftInPartition--;
    return true;
  }
}

function textOf(key: readonly Bytes[]): string {
  return key.map(bytesToLatin1).join('\u0100');
}
