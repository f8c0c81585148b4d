/** count, sum, min, max, mean, fold, unfold: one value from many, and many from one. */
import { runtimeError } from '../../errors.ts';
import { calculate, type GremlinNumber, isNumber, numberOf, toDouble } from '../../model/number.ts';
import { compareOrder } from '../../model/order.ts';
import type { GremlinValue } from '../../model/value.ts';
import { isLocal, type StepTable } from '../compiler.ts';
import { membersOf } from '../element-values.ts';
import { type BinaryOperator, operatorOf } from '../operators.ts';
import { batchStep, type Frame, mapStep, type Step } from '../step.ts';
import { NO_PATH, Traverser } from '../traverser.ts';

export const REDUCE_STEPS: StepTable = {
  count: ({ args }) =>
    isLocal(args)
      ? mapStep((value) => numberOf('long', membersOf(value).length))
      : reducingStep(() => new Count()),
  sum: ({ args }) => reduction(args, () => new Sum()),
  mean: ({ args }) => reduction(args, () => new Mean()),
  min: ({ args }) => reduction(args, () => new Extreme(-1)),
  max: ({ args }) => reduction(args, () => new Extreme(1)),
  fold: ({ args: [seed, operator] }) =>
    seed === undefined
      ? reducingStep((frame) => new Fold(frame))
      : reducingStep(() => new SeededFold(seed, operatorOf(operator))),
  unfold: () =>
    batchStep((batch) =>
      batch.flatMap((traverser) =>
        membersOf(traverser.value).map((member) => traverser.to(member)),
      ),
    ),
};

/** Takes one value after the other; only fold() keeps them. */
interface Reducer {
  add(value: GremlinValue, bulk: number): void;
  /** Undefined where there is no result. */
  result(): GremlinValue | undefined;
}

/** One result for each origin, also for those without traversers. */
function reducingStep(create: (frame: Frame) => Reducer): Step {
  return async function* (input, frame) {
    const reducers = Array.from({ length: frame.origins }, () => create(frame));
    let some: Traverser | undefined;
    for await (const batch of input) {
      some ??= batch[0];
      for (const { origin, value, bulk } of batch) reducers[origin]?.add(value, bulk);
      await frame.run.pace.spend(batch.length);
    }
    const results = reducers.flatMap((reducer, origin) => {
      const value = reducer.result();
      return value === undefined ? [] : [fresh(value, origin, some, frame)];
    });
    if (results.length > 0) yield results;
  };
}

/** A reduced value has no way behind it. */
export function fresh(
  value: GremlinValue,
  origin: number,
  some: Traverser | undefined,
  { run }: Frame,
): Traverser {
  const path =
    run.emptyPath?.isFull === true
      ? { ...NO_PATH, object: value, previous: NO_PATH }
      : run.emptyPath;
  return new Traverser(value, { origin, loops: some?.loops, path, sack: run.source.sack?.initial });
}

function reduction(args: readonly GremlinValue[], create: () => Reducer): Step {
  if (!isLocal(args)) return reducingStep(create);
  return batchStep((batch) =>
    batch.flatMap((traverser) => {
      const reducer = create();
      for (const member of membersOf(traverser.value)) reducer.add(member, 1);
      const reduced = reducer.result();
      return reduced === undefined ? [] : [traverser.to(reduced)];
    }),
  );
}

class Count implements Reducer {
  #count = 0;

  add(_: GremlinValue, bulk: number): void {
    this.#count += bulk;
  }

  result(): GremlinValue {
    return numberOf('long', this.#count);
  }
}

class Fold implements Reducer {
  readonly #frame: Frame;
  readonly #values: GremlinValue[] = [];

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  add(value: GremlinValue, bulk: number): void {
    this.#frame.run.pace.hold(bulk);
    for (let left = bulk; left > 0; left--) this.#values.push(value);
  }

  result(): GremlinValue {
    return this.#values;
  }
}

/** fold(seed, operator): one value of all. */
class SeededFold implements Reducer {
  readonly #operator: BinaryOperator;
  #value: GremlinValue;

  constructor(seed: GremlinValue, operator: BinaryOperator) {
    this.#value = seed;
    this.#operator = operator;
  }

  add(value: GremlinValue, bulk: number): void {
    for (let left = bulk; left > 0; left--) this.#value = this.#operator(this.#value, value);
  }

  result(): GremlinValue {
    return this.#value;
  }
}

function numberIn(value: GremlinValue, step: string): GremlinNumber {
  if (!isNumber(value)) throw runtimeError(`${step}() can only be used on numbers.`);
  return value;
}

class Sum implements Reducer {
  /** Null where only nulls came. */
  #sum: GremlinNumber | null | undefined;

  add(value: GremlinValue, bulk: number): void {
    if (value === null) {
      this.#sum ??= null;
      return;
    }
    const number = numberIn(value, 'sum');
    const added = bulk === 1 ? number : calculate('multiply', number, bulk);
    this.#sum = isNumber(this.#sum) ? calculate('add', this.#sum, added) : added;
  }

  result(): GremlinValue | undefined {
    return this.#sum;
  }
}

class Mean implements Reducer {
  #sum = 0;
  #count = 0;
  #hasNull = false;

  add(value: GremlinValue, bulk: number): void {
    if (value === null) this.#hasNull = true;
    else {
      this.#sum += toDouble(numberIn(value, 'mean')) * bulk;
      this.#count += bulk;
    }
  }

  result(): GremlinValue | undefined {
    if (this.#count > 0) return numberOf('double', this.#sum / this.#count);
    return this.#hasNull ? null : undefined;
  }
}

/** The least or the greatest value. */
class Extreme implements Reducer {
  readonly #sign: 1 | -1;
  #found: GremlinValue | undefined;

  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  add(value: GremlinValue): void {
    if (value === null) {
      this.#found ??= null;
      return;
    }
    if (
      this.#found === undefined ||
      this.#found === null ||
      this.#sign * compareOrder(value, this.#found) > 0
    )
      this.#found = value;
  }

  result(): GremlinValue | undefined {
    return this.#found;
  }
}
