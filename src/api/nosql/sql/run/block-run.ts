/**
 * Runs a block: items are pushed in one by one, results are emitted as early as the clauses allow. The reference
 * executor, subqueries and blocking queries all run this way.
 */
import {
  assert,
  DomainError,
  draw,
  ITEM_COMBINATIONS_MAX,
  QUERY_ROWS_MAX,
  spend,
} from '../../../../base/index.ts';
import { isList, type Value } from '../../../../value/index.ts';
import type { Block, CompiledSource, Slots } from '../compile/block.ts';
import { Groups } from './groups.ts';
import { scoreInputs } from './rank.ts';
import { Results, RowBudget, type Sink, windowOf } from './results.ts';

/** Whether the rows depend on items, and not on the query alone. */
export function readsItems({ sources: [first] }: Block): boolean {
  return first?.kind === 'container' || (first?.kind === 'subquery' && readsItems(first.block));
}

/** Whether the result is nothing but a count of matching items. */
export function countsItems({ sources, grouping }: Block): boolean {
  const [source] = sources;
  const isPlain = sources.length === 1 && source?.kind === 'container' && !source.path;
  return (
    isPlain && grouping?.isSingle === true && grouping.aggregates.every((each) => each.countsRows)
  );
}

/** FROM and WHERE: calls onRow for every combination of the sources that passes, until it returns true. */
export class RowSource {
  readonly #block: Block;
  readonly #row: Slots;
  readonly #onRow: () => boolean;
  readonly #first: CompiledSource | undefined;
  /** The run of the subquery that reads the items, where FROM begins with one. */
  readonly #inner: BlockRun | undefined;
  #combinations = 0;

  constructor(block: Block, row: Slots, onRow: () => boolean) {
    this.#block = block;
    this.#row = row;
    this.#onRow = onRow;
    const first = readsItems(block) ? block.sources[0] : undefined;
    this.#first = first;
    if (first?.kind === 'subquery')
      this.#inner = new BlockRun(first.block, row, (value) => this.#take(first, value));
  }

  /** Adds an item. True when no further item can matter. */
  add(document: Value): boolean {
    this.#combinations = 0;
    if (this.#inner) return this.#inner.add(document);
    const first = this.#first;
    if (first?.kind !== 'container') return true;
    const row = this.#row;
    row[first.slot] = document;
    if (!first.path) return this.#expand(1);
    const value = first.path(row);
    if (value === undefined) return false;
    row[first.slot] = value;
    return this.#expand(1);
  }

  /** Emits the rows that had to wait for the last item; all rows where no items are read. */
  finish(): void {
    if (this.#inner) this.#inner.finish();
    else if (!this.#first) this.#expand(0);
  }

  #take(
    { slot, isIterated }: Extract<CompiledSource, { kind: 'subquery' }>,
    value: Value,
  ): boolean {
    if (!isIterated) {
      this.#row[slot] = value;
      return this.#expand(1);
    }
    return isList(value) && this.#expandEach(value, slot, 1);
  }

  #expand(at: number): boolean {
    const { sources, where, rowSteps } = this.#block;
    const row = this.#row;
    const source = sources[at];
    if (!source) {
      spend(rowSteps);
      if (where !== undefined && where(row) !== true) return false;
      return this.#onRow();
    }
    switch (source.kind) {
      case 'value': {
        const value = source.value(row);
        if (value === undefined) return false;
        row[source.slot] = value;
        return this.#expand(at + 1);
      }
      case 'elements': {
        const list = source.list(row);
        return isList(list) && this.#expandEach(list, source.slot, at + 1);
      }
      case 'subquery': {
        const values = resultsOf(source.block, row);
        if (!source.isIterated) return this.#expandEach(values, source.slot, at + 1);
        return values.some(
          (value) => isList(value) && this.#expandEach(value, source.slot, at + 1),
        );
      }
      case 'container':
        assert(false, 'only the first source reads the container');
    }
  }

  #expandEach(values: readonly Value[], slot: number, next: number): boolean {
    this.#combinations += values.length;
    if (this.#combinations > ITEM_COMBINATIONS_MAX)
      throw new DomainError(
        'invalidInput',
        'Query exceeded the number of combinations that JOIN may make of one item; add a filter to a subquery.',
      );
    for (const value of values) {
      spend(1);
      this.#row[slot] = value;
      if (this.#expand(next)) return true;
    }
    return false;
  }
}

interface BlockRunOptions {
  /** The most rows or groups that are kept. */
  readonly rowsMax?: number | undefined;
}

/** One execution of a block. */
export class BlockRun {
  readonly #source: RowSource;
  readonly #groups: Groups | undefined;
  readonly #results: Results;
  readonly #emit: (row: Slots) => boolean;
  readonly #tryEmit: (row: Slots) => void;
  #isEnough = false;
  #rowCount = 0;

  constructor(block: Block, row: Slots, sink: Sink, { rowsMax }: BlockRunOptions = {}) {
    const bound = rowsMax ?? QUERY_ROWS_MAX;
    const results = new Results(block, windowOf(block, row), sink, bound);
    const { project, rank, orderBy, grouping } = block;
    this.#results = results;
    this.#emit = (from) => {
      const value = project(from);
      if (value === undefined) return false;
      if (!rank && orderBy.length === 0) return results.add(value, NO_KEYS);
      const keys = rank ? scoreInputs(rank, from) : orderBy.map((order) => order.value(from));
      return results.add(value, keys);
    };
    this.#tryEmit = (from) => {
      project(from);
      for (const { value } of orderBy) value(from);
    };
    const groups = grouping && new Groups(grouping, row, bound);
    this.#groups = groups;
    const onRow = groups
      ? () => {
          this.#rowCount++;
          groups.add();
          return false;
        }
      : () => {
          this.#rowCount++;
          return this.#emit(row);
        };
    this.#source = new RowSource(block, row, onRow);
  }

  /** Rows that passed FROM and WHERE. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Adds an item. True when no further item can change the results. */
  add(document: Value): boolean {
    if (!this.#isEnough) this.#isEnough = this.#results.isFull || this.#source.add(document);
    return this.#isEnough;
  }

  /** Adds a number of rows that passed FROM and WHERE, for a block that only counts them. */
  addCounted(count: number): void {
    this.#rowCount += count;
    this.#groups?.addCounted(count);
  }

  /** Evaluates the groups so far only to request the user defined functions they call; emits nothing. */
  tryFinish(): void {
    this.#groups?.finish((row) => {
      this.#tryEmit(row);
      return false;
    });
  }

  /** Emits the results that had to wait for the last item. */
  finish(): void {
    if (this.#results.isFull) return;
    if (!this.#isEnough) this.#source.finish();
    this.#groups?.finish(this.#emit);
    this.#results.finish();
  }
}

const NO_KEYS: readonly Value[] = [];

/** The cost of starting a subquery. */
const BLOCK_STEPS = 50;

/** The results of a subquery in the row. */
export function resultsOf(block: Block, row: Slots): Value[] {
  spend(BLOCK_STEPS);
  const budget = new RowBudget(QUERY_ROWS_MAX);
  const values: Value[] = [];
  const sink: Sink = (value) => {
    budget.reserve(8);
    draw(8);
    values.push(value);
    return false;
  };
  new BlockRun(block, row, sink).finish();
  return values;
}

/** At most `countMax` results, without computing more than they need. */
export function firstResults(block: Block, row: Slots, countMax: number): Value[] {
  spend(BLOCK_STEPS);
  const values: Value[] = [];
  const sink: Sink = (value) => values.push(value) >= countMax;
  new BlockRun(block, row, sink).finish();
  return values;
}
