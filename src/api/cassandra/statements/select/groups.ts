/** Groups of a SELECT page by page. Its limits count groups; a page ends behind a whole group. */
import { type Bytes, bytesToLatin1 } from '../../../../base/index.ts';
import type { KeyColumn } from '../../cells/row.ts';
import { invalid } from '../../errors.ts';
import { PAGE_BYTES_MAX, PAGE_ITEMS_MAX, ROWS_KEPT_MAX, SCAN_ITEMS_MAX } from '../../limits.ts';
import type { Call, Cells } from '../plan.ts';
import type { Predicate } from '../where/filters.ts';
import type { FoundRow } from './found-row.ts';
import type { CompiledSelect } from './pages.ts';
import { BEGINNING, decodePagingState, type PagingState, type Position } from './paging-state.ts';
import type { RowPage, RowSource } from './row-source.ts';
import type { RowGroup } from './selection.ts';

interface FinishedGroup {
  readonly first: FoundRow;
  readonly cells: Cells;
}

/** The group that rows are added to. */
interface OpenGroup {
  readonly first: FoundRow;
  readonly rows: RowGroup;
}

export class GroupPage {
  /** Where the next page begins; undefined where this one is the last. */
  state: PagingState | undefined;
  readonly #select: CompiledSelect;
  readonly #source: RowSource;
  readonly #call: Call;
  readonly #columns: number;
  readonly #predicates: readonly Predicate[];
  readonly #perPartition: number | undefined;
  readonly #finished: FinishedGroup[] = [];
  #open: OpenGroup | undefined;
  /** The partition key of the last row, as a text to compare with. */
  #partition: string | undefined;
  /** The columns of the last group of the partition; its rows are no new group. */
  #group: readonly Bytes[] | undefined;
  #left: number;
  #leftInPartition: number;
  #bytes = 0;
  #itemCount = 0;

  constructor(select: CompiledSelect, source: RowSource, call: Call) {
    const { pagingState } = call;
    this.#select = select;
    this.#source = source;
    this.#call = call;
    this.#columns = select.groupedColumns ?? 0;
    this.#predicates = select.restrictions.filters.map((filter) => filter(call));
    this.#perPartition = select.perPartitionLimit(call);
    const start: PagingState =
      pagingState === undefined
        ? { ...BEGINNING, left: select.limit(call), leftInPartition: this.#perPartition }
        : decodePagingState(pagingState, select.fingerprint);
    this.state = start;
    this.#left = start.left ?? Number.POSITIVE_INFINITY;
    this.#leftInPartition = start.leftInPartition ?? Number.POSITIVE_INFINITY;
    this.#partition = start.key && textOf(start.key);
    this.#group = start.group;
  }

  async fill(): Promise<readonly FinishedGroup[]> {
    const groupsMax = Math.min(this.#call.pageSize ?? Number.POSITIVE_INFINITY, this.#left);
    // One more than the groups tells where the last one ends, if each has one row.
    let limit = Math.min(groupsMax + 1, SCAN_ITEMS_MAX);
    let position: Position | undefined = this.state;
    while (position !== undefined) {
      const page: RowPage = await this.#source.page(position, limit, this.#call);
      this.#itemCount += page.itemCount;
      for (const [at, row] of page.rows.entries()) {
        if (!this.#isWanted(row) || this.#isAdded(row)) continue;
        this.#finish();
        if (this.#isFull()) {
          this.state = this.#stateAt(at === 0 ? position : page.behind(at - 1));
          return this.#finished;
        }
        if (this.#mayBegin(row)) this.#begin(row);
      }
      position =
        this.#isPartitionOver() && page.next
          ? this.#behindPartition(position, page.next)
          : page.next;
      limit = Math.min(2 * limit, SCAN_ITEMS_MAX);
    }
    this.#finish();
    this.state = undefined;
    return this.#finished;
  }

  #isWanted(row: FoundRow): boolean {
    return this.#predicates.every((matches) => matches((name) => row.value(name)));
  }

  /** Adds a row of the last group to it. One that was inserted after the group was sent is left out. */
  #isAdded(row: FoundRow): boolean {
    if (this.#group === undefined || !this.#isInPartition(row)) return false;
    if (textOf(this.#groupOf(row)) !== textOf(this.#group)) return false;
    if (!this.#select.statement.isDistinct) this.#open?.rows.add(row);
    return true;
  }

  #mayBegin(row: FoundRow): boolean {
    return this.#leftInPartition > 0 || !this.#isInPartition(row);
  }

  #isInPartition({ partitionKey }: FoundRow): boolean {
    return textOf(partitionKey.map(bytesOf)) === this.#partition;
  }

  #groupOf({ clustering }: FoundRow): readonly Bytes[] {
    return clustering.slice(0, this.#columns).map(bytesOf);
  }

  #begin(row: FoundRow): void {
    if (!this.#isInPartition(row))
      this.#leftInPartition = this.#perPartition ?? Number.POSITIVE_INFINITY;
    this.#partition = textOf(row.partitionKey.map(bytesOf));
    this.#group = this.#groupOf(row);
    this.#leftInPartition--;
    this.#open = { first: row, rows: this.#select.selection.group(this.#call) };
    this.#open.rows.add(row);
  }

  #finish(): void {
    if (this.#open === undefined) return;
    const { first, rows } = this.#open;
    const cells = rows.row();
    this.#open = undefined;
    this.#finished.push({ first, cells });
    this.#left--;
    for (const cell of cells) this.#bytes += 4 + (cell?.length ?? 0);
    if (this.#call.pageSize === undefined && this.#finished.length > ROWS_KEPT_MAX)
      throw invalid(`The result has more than ${ROWS_KEPT_MAX} groups: read it in pages`);
  }

  #isFull(): boolean {
    const { pageSize } = this.#call;
    const count = this.#finished.length;
    if (this.#left === 0) return true;
    // Without pages there is no second answer that the rest could go into.
    if (pageSize === undefined || count === 0) return false;
    return count >= pageSize || this.#bytes >= PAGE_BYTES_MAX || this.#itemCount >= PAGE_ITEMS_MAX;
  }

  /** Whether the rest of the partition has nothing that is wanted. */
  #isPartitionOver(): boolean {
    if (this.#select.statement.isDistinct) return this.#open !== undefined;
    return this.#open === undefined && this.#leftInPartition === 0;
  }

  /** Where the next partition begins, if the next row would be of this one. */
  #behindPartition(position: Position, next: Position): Position | undefined {
    return next.partition === position.partition ? this.#source.afterPartition(next) : next;
  }

  #stateAt(position: Position): PagingState | undefined {
    if (this.#left === 0) return undefined;
    const isSame = position.key !== undefined && textOf(position.key) === this.#partition;
    const countOf = (left: number) => (Number.isFinite(left) ? left : undefined);
    return {
      ...position,
      left: countOf(this.#left),
      leftInPartition: isSame ? countOf(this.#leftInPartition) : this.#perPartition,
      group: isSame ? this.#group : undefined,
    };
  }
}

function bytesOf({ value }: KeyColumn): Bytes {
  return value;
}

function textOf(key: readonly Bytes[]): string {
  return key.map(bytesToLatin1).join('\u0100');
}
