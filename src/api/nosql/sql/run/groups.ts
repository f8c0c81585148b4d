/** The groups of a query. Rows are added to folds one by one; only keys and folds are kept. */
import { beginResult, spend } from '../../../../base/index.ts';
import { compareValues, type Value } from '../../../../value/index.ts';
import type { Grouping, Slots } from '../compile/block.ts';
import type { Fold } from './aggregates.ts';
import { RowBudget } from './results.ts';
import { type ValueKey, valueKey } from './value-key.ts';
import { keptSize } from './value-size.ts';

/** Bytes for the folds and slots of a group, without the values that its first row refers to. */
const GROUP_BYTES = 200;

interface Group {
  /** A copy of the first row of the group, with the keys in their slots. */
  readonly row: Slots;
  readonly folds: readonly Fold[];
}

export class Groups {
  readonly #grouping: Grouping;
  readonly #row: Slots;
  readonly #rowsMax: number;
  /** The only group, without GROUP BY. */
  readonly #single: Group | undefined;
  readonly #groups: Map<ValueKey, Group> | undefined;
  #budget: RowBudget | undefined;

  constructor(grouping: Grouping, row: Slots, rowsMax: number) {
    this.#grouping = grouping;
    this.#row = row;
    this.#rowsMax = rowsMax;
    if (grouping.isSingle) this.#single = this.#newGroup();
    else this.#groups = new Map();
  }

  /** Adds the current row to its group. */
  add(): void {
    const { folds } = this.#single ?? this.#groupOfRow();
    const { aggregates } = this.#grouping;
    for (let at = 0; at < aggregates.length; at++) {
      const { argument, aggregate } = aggregates[at] as (typeof aggregates)[number];
      const value = argument(this.#row);
      if (value !== undefined && isListed(aggregate.planName)) this.#reserve(keptSize(value));
      (folds[at] as Fold).add(value);
    }
  }

  /** Adds a number of rows to the only group, whose aggregates all count rows. */
  addCounted(count: number): void {
    for (const fold of this.#single?.folds ?? []) fold.addCounted?.(count);
  }

  /**
   * Calls emit with the row of each group until it returns true. The order is that of the keys where an index alone could
   * give the groups, else that of their first rows.
   */
  finish(emit: (row: Slots) => boolean): void {
    for (const { row, folds } of this.#inOrder()) {
      beginResult();
      spend(10 * folds.length);
      for (const [at, { slot }] of this.#grouping.aggregates.entries())
        row[slot] = folds[at]?.end();
      if (emit(row)) return;
    }
  }

  #inOrder(): Iterable<Group> {
    if (this.#single) return [this.#single];
    const { keys, aggregates } = this.#grouping;
    const groups = this.#groups?.values() ?? [];
    const [key] = keys;
    if (key === undefined || keys.length > 1 || !aggregates.every((each) => each.countsRows))
      return groups;
    return [...groups].sort((a, b) => {
      spend(10);
      return compareValues(a.row[key.slot], b.row[key.slot]);
    });
  }

  #groupOfRow(): Group {
    const { keys } = this.#grouping;
    const values = keys.map(({ value }) => value(this.#row));
    const key = groupKey(values);
    const existing = this.#groups?.get(key);
    if (existing) return existing;
    this.#reserve(GROUP_BYTES + (typeof key === 'string' ? key.length : 0));
    const group = this.#newGroup();
    for (const [at, { slot }] of keys.entries()) group.row[slot] = values[at];
    this.#groups?.set(key, group);
    return group;
  }

  #newGroup(): Group {
    const folds = this.#grouping.aggregates.map(({ aggregate }) => aggregate.start());
    return { row: this.#row.slice(), folds };
  }

  #reserve(bytes: number): void {
    this.#budget ??= new RowBudget(this.#rowsMax);
    this.#budget.reserve(bytes);
  }
}

/** Aggregates that keep every value. */
function isListed(planName: string): boolean {
  return planName === 'MakeList' || planName === 'MakeSet';
}

/** Undefined keys form a group of their own, distinct from null. */
function groupKey(keys: readonly Value[]): ValueKey {
  if (keys.length === 1 && keys[0] !== undefined) return valueKey(keys[0]);
  return keys.map((value) => (value === undefined ? 'u' : `d${valueKey([value])}`)).join('\u0000');
}
