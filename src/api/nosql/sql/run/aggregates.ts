/**
 * Aggregate functions as folds: start, add each value, merge partial folds, end. Undefined values are never counted.
 * A value of a wrong type poisons SUM and AVG (any defined non-number) and MIN and MAX (arrays and objects): the result
 * is undefined, whatever else was added.
 */
import { compareValues, type Value } from '../../../../value/index.ts';
import { type ValueKey, valueKey } from './value-key.ts';

export interface Aggregate {
  /** The name in query plans. */
  readonly planName: AggregateName;
  start(): Fold;
}

export interface Fold {
  add(value: Value): void;
  /** Adds a number of values that all count. */
  addCounted?(count: number): void;
  /** Merges the fold of other rows, of the same aggregate. */
  merge(other: Fold): void;
  end(): Value;
}

export type AggregateName =
  | 'Average'
  | 'Count'
  | 'CountIf'
  | 'MakeList'
  | 'MakeSet'
  | 'Max'
  | 'Min'
  | 'Sum';

const AGGREGATES: ReadonlyMap<string, Aggregate> = new Map<string, Aggregate>([
  ['avg', { planName: 'Average', start: () => new AverageFold() }],
  ['count', { planName: 'Count', start: () => new CountFold((value) => value !== undefined) }],
  ['countif', { planName: 'CountIf', start: () => new CountFold((value) => value === true) }],
  ['makelist', { planName: 'MakeList', start: () => new ListFold() }],
  ['makeset', { planName: 'MakeSet', start: () => new SetFold() }],
  ['max', { planName: 'Max', start: () => new ExtremeFold(1) }],
  ['min', { planName: 'Min', start: () => new ExtremeFold(-1) }],
  ['sum', { planName: 'Sum', start: () => new SumFold() }],
]);

/** The aggregate of that name, whatever its case. */
export function findAggregate(name: string): Aggregate | undefined {
  return AGGREGATES.get(name.toLowerCase());
}

class CountFold implements Fold {
  readonly #isCounted: (value: Value) => boolean;
  #count = 0;

  constructor(isCounted: (value: Value) => boolean) {
    this.#isCounted = isCounted;
  }

  add(value: Value): void {
    if (this.#isCounted(value)) this.#count++;
  }

  addCounted(count: number): void {
    this.#count += count;
  }

  merge(other: CountFold): void {
    this.#count += other.#count;
  }

  end(): Value {
    return this.#count;
  }
}

/** Sums with compensation for rounding errors, so that the order of items hardly ever changes the result. */
class SumFold implements Fold {
  #sum = 0;
  #lost = 0;
  protected count = 0;
  protected isPoisoned = false;

  add(value: Value): void {
    if (value === undefined) return;
    if (typeof value === 'number') {
      this.#plus(value);
      this.count++;
    } else this.isPoisoned = true;
  }

  #plus(value: number): void {
    const sum = this.#sum + value;
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum;
    this.#sum = sum;
  }

  merge(other: SumFold): void {
    this.#plus(other.#sum);
    this.#lost += other.#lost;
    this.count += other.count;
    this.isPoisoned ||= other.isPoisoned;
  }

  end(): Value {
    const sum = this.#sum + this.#lost;
    return this.isPoisoned || !Number.isFinite(sum) ? undefined : sum;
  }
}

class AverageFold extends SumFold {
  override end(): Value {
    const sum = super.end();
    return typeof sum === 'number' && this.count > 0 ? sum / this.count : undefined;
  }
}

class ExtremeFold implements Fold {
  readonly #sign: 1 | -1;
  #best: Value;
  #isPoisoned = false;

  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  add(value: Value): void {
    if (value === undefined) return;
    if (typeof value === 'object' && value !== null) this.#isPoisoned = true;
    else if (this.#best === undefined || this.#sign * compareValues(value, this.#best) > 0)
      this.#best = value;
  }

  merge(other: ExtremeFold): void {
    this.#isPoisoned ||= other.#isPoisoned;
    this.add(other.#best);
  }

  end(): Value {
    return this.#isPoisoned ? undefined : this.#best;
  }
}

class ListFold implements Fold {
  readonly #values: Value[] = [];

  add(value: Value): void {
    if (value !== undefined) this.#values.push(value);
  }

  merge(other: ListFold): void {
    for (const value of other.#values) this.#values.push(value);
  }

  end(): Value {
    return this.#values;
  }
}

class SetFold implements Fold {
  readonly #values = new Map<ValueKey, Value>();

  add(value: Value): void {
    if (value === undefined) return;
    const key = valueKey(value);
    if (!this.#values.has(key)) this.#values.set(key, value);
  }

  merge(other: SetFold): void {
    for (const value of other.#values.values()) this.add(value);
  }

  end(): Value {
    return [...this.#values.values()];
  }
}
