/** Accumulators that keep values: the first, the least, all, the distinct. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { roughBytes } from '../../bson/rough-bytes.ts';
import { MongoError } from '../../errors.ts';
import { BsonSet } from '../bson-set.ts';
import { isNullish, typeName } from '../expressions/define.ts';
import type { Accumulator } from './numbers.ts';

type Compare = (a: Bson | undefined, b: Bson | undefined) => number;

/** Bytes of the values that one accumulator keeps (documented). */
const BYTES_MAX = 100 * 1024 * 1024;

export function newBest(direction: 1 | -1, compare: Compare): Accumulator {
  let best: Bson | undefined;
  return {
    add(value) {
      if (isNullish(value)) return;
      if (best === undefined || compare(value, best) * direction > 0) best = value;
    },
    result: () => best ?? null,
  };
}

export function newFirst(): Accumulator {
  let first: Bson | undefined;
  let isSet = false;
  return {
    add(value) {
      if (isSet) return;
      isSet = true;
      first = value;
    },
    result: () => first ?? null,
  };
}

export function newLast(): Accumulator {
  let last: Bson | undefined;
  return {
    add(value) {
      last = value;
    },
    result: () => last ?? null,
  };
}

/** Adds up what is kept and refuses more than an accumulator may hold. */
class Held {
  readonly #name: string;
  #bytes = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(value: Bson): void {
    this.#bytes += roughBytes(value);
    if (this.#bytes > BYTES_MAX)
      throw new MongoError(
        'ExceededMemoryLimit',
        `${this.#name} used too much memory and cannot spill to disk. Memory limit: ${BYTES_MAX} bytes`,
      );
  }
}

export function newPush(): Accumulator {
  const list: Bson[] = [];
  const held = new Held('$push');
  return {
    add(value) {
      if (value === undefined) return;
      held.add(value);
      list.push(value);
    },
    result: () => list,
  };
}

export function newAddToSet(compare: Compare): Accumulator {
  const set = new BsonSet(compare);
  const held = new Held('$addToSet');
  return {
    add(value) {
      if (value === undefined) return;
      if (set.add(value)) held.add(value);
    },
    result: () => set.values(),
  };
}

export function arrayFrom(value: Bson, name: string): readonly Bson[] {
  if (isArray(value)) return value;
  throw new MongoError(
    'TypeMismatch',
    `${name} requires array inputs, but input ${typeName(value)} is of type ${typeName(value)}`,
  );
}

export function newConcatArrays(): Accumulator {
  const list: Bson[] = [];
  const held = new Held('$concatArrays');
  return {
    add(value) {
      if (value === undefined) return;
      for (const element of arrayFrom(value, '$concatArrays')) {
        held.add(element);
        list.push(element);
      }
    },
    result: () => list,
  };
}

export function newSetUnion(compare: Compare): Accumulator {
  const set = new BsonSet(compare);
  const held = new Held('$setUnion');
  return {
    add(value) {
      if (value === undefined) return;
      for (const element of arrayFrom(value, '$setUnion')) if (set.add(element)) held.add(element);
    },
    result: () => set.values(),
  };
}

export function newMergeObjects(): Accumulator {
  const merged = new Map<string, Bson>();
  return {
    add(value) {
      if (isNullish(value)) return;
      if (!isDocument(value))
        throw new MongoError(
          'Location5911200',
          `$mergeObjects only supports objects, but input is of type ${typeName(value)}`,
        );
      for (const [name, part] of value as BsonDocument) merged.set(name, part);
    },
    result: () => merged,
  };
}

/** The first or last values, missing ones as null. */
export function newEnds(n: number, isLast: boolean): Accumulator {
  const list: Bson[] = [];
  const held = new Held(isLast ? '$lastN' : '$firstN');
  return {
    add(value) {
      if (!isLast && list.length >= n) return;
      held.add(value ?? null);
      list.push(value ?? null);
      if (isLast && list.length > n) list.shift();
    },
    result: () => list,
  };
}

/** The least or greatest values; null and missing are skipped. */
export function newBestN(n: number, direction: 1 | -1, compare: Compare): Accumulator {
  let kept: Bson[] = [];
  const held = new Held(direction > 0 ? '$maxN' : '$minN');
  const arrange = (): void => {
    kept.sort((a, b) => -compare(a, b) * direction);
    kept = kept.slice(0, n);
  };
  return {
    add(value) {
      if (isNullish(value)) return;
      held.add(value as Bson);
      kept.push(value as Bson);
      if (kept.length > 2 * n + 100) arrange();
    },
    result() {
      arrange();
      return kept;
    },
  };
}

/** Values are pairs: the sort key and the output. */
export function newTop(
  n: number | undefined,
  isBottom: boolean,
  order: (a: Bson, b: Bson) => number,
): Accumulator {
  let kept: { readonly key: Bson; readonly output: Bson; readonly at: number }[] = [];
  let at = 0;
  const count = n ?? 1;
  const arrange = (): void => {
    kept.sort((a, b) => order(a.key, b.key) || a.at - b.at);
    kept = isBottom ? kept.slice(-count) : kept.slice(0, count);
  };
  return {
    add(value) {
      const [key, output] = value as readonly [Bson, Bson];
      kept.push({ key, output, at: at++ });
      if (kept.length > 2 * count + 100) arrange();
    },
    result() {
      arrange();
      const outputs = kept.map(({ output }) => output);
      return n === undefined ? (outputs[0] ?? null) : outputs;
    },
  };
}
