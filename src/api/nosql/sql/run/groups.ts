/** The groups of a query, folded row by row: only keys and folds are kept, never the rows. */
import { beginResult, spend } from '../../../../base/index.ts';
import { compareValues, type Value } from '../../../../value/index.ts';
import type { Grouping, Slots } from '../compile/block.ts';
import type { Fold } from './aggregates.ts';
import { RowBudget } from './results.ts';
import { type ValueKey, valueKey } from './value-key.ts';
import { keptSize } from './value-size.ts';

/** Folds and slots of a group; what its first row refers to comes on top. */
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
  /** Without GROUP BY. */
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

  /** Folds the row as it is now into its group. */
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

  /** Folds in rows of the only group of which each aggregate counts every one. */
  addCounted(count: number): void {
    for (const fold of this.#single?.folds ?? []) fold.addCounted?.(count);
  }

  /**
   * Calls emit with the row of each group until it returns true: in the order of their keys where an index could tell all there
   * is to tell of them, else in the order of their first rows.
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

/** Aggregates that keep what they are given. */
function isListed(planName: string): boolean {
  return planName === 'MakeList' || planName === 'MakeSet';
}

/** Undefined keys are a group of their own, apart from null. */
function groupKey(keys: readonly Value[]): ValueKey {
  if (keys.length === 1 && keys[0] !== undefined) return valueKey(keys[0]);
  return keys.map((value) => (value === undefined ? 'u' : `d${valueKey([value])}`)).join('\u0000');
}
