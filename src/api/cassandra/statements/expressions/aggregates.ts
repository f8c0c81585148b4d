/** Native functions of all rows: count, min, max, sum and avg. */
import type { Bytes } from '../../../../base/index.ts';
import { NATIVE_CODES, type NativeName, native } from '../../types/cql-type.ts';
import { int64Bytes } from '../../types/native-values.ts';
import { compareTyped } from '../../types/ordered.ts';
import type { AggregateState, FunctionCandidate } from './candidate.ts';
import {
  decimalArithmetic,
  dividedBy,
  halfEven,
  isNumeric,
  type NumberValue,
  numberBytes,
  numberOf,
  toDecimal,
  toDouble,
} from './numbers.ts';

const NATIVE_NAMES = Object.keys(NATIVE_CODES) as readonly NativeName[];

/** Counts rows, or the values that are not null. */
export function countState(): AggregateState {
  let rows = 0n;
  return {
    add([value]) {
      if (value !== null) rows++;
    },
    result: () => int64Bytes(rows),
  };
}

export function aggregateCandidates(name: string): readonly FunctionCandidate[] {
  switch (name) {
    case 'min':
    case 'max':
      return NATIVE_NAMES.map((type) => extreme(name, type));
    case 'sum':
    case 'avg':
      return NATIVE_NAMES.filter((type) => isNumeric(native(type))).map((type) =>
        numeric(name, type),
      );
    default:
      return [];
  }
}

function extreme(name: 'min' | 'max', typeName: NativeName): FunctionCandidate {
  const type = native(typeName);
  const sign = name === 'max' ? 1 : -1;
  return {
    keyspace: 'system',
    name,
    arguments: [type],
    result: typeName === 'counter' ? native('bigint') : type,
    aggregate() {
      let best: Bytes | null = null;
      return {
        add([value]) {
          if (value === null || value === undefined) return;
          if (best === null || sign * compareTyped(type, value, best) > 0) best = value;
        },
        result: () => best,
      };
    },
  };
}

function numeric(name: 'sum' | 'avg', typeName: NativeName): FunctionCandidate {
  const result = typeName === 'counter' ? 'bigint' : typeName;
  return {
    keyspace: 'system',
    name,
    arguments: [native(typeName)],
    result: native(result),
    aggregate() {
      const total = totalOf(typeName, name === 'avg');
      return {
        add([value]) {
          if (value !== null && value !== undefined && value.length > 0)
            total.add(numberOf(typeName, value));
        },
        result: () => numberBytes(result, total.result()),
      };
    },
  };
}

interface Total {
  add(value: NumberValue): void;
  result(): NumberValue;
}

function totalOf(type: NativeName, isAverage: boolean): Total {
  if (type === 'decimal') return isAverage ? decimalAverage() : decimalSum();
  if (type === 'float' || type === 'double') return doubleTotal(isAverage);
  let sum = 0n;
  let count = 0n;
  return {
    add(value) {
      sum += value as bigint;
      count++;
    },
    result: () => (isAverage ? (count === 0n ? 0n : sum / count) : sum),
  };
}

function decimalSum(): Total {
  let sum = toDecimal(0n);
  return {
    add(value) {
      sum = decimalArithmetic('+', sum, toDecimal(value));
    },
    result: () => sum,
  };
}

/** Step by step, with the scale of the numbers, as Cassandra does it. */
function decimalAverage(): Total {
  let average = toDecimal(0n);
  let count = 0n;
  return {
    add(value) {
      count++;
      const difference = decimalArithmetic('-', toDecimal(value), average);
      average = decimalArithmetic('+', average, dividedBy(difference, count, halfEven));
    },
    result: () => average,
  };
}

/** Summed with compensation, so that small numbers beside great ones are not lost. */
function doubleTotal(isAverage: boolean): Total {
  let sum = 0;
  let compensation = 0;
  let simple = 0;
  let count = 0;
  return {
    add(value) {
      const number = toDouble(value);
      count++;
      simple += number;
      const corrected = number - compensation;
      const next = sum + corrected;
      compensation = next - sum - corrected;
      sum = next;
    },
    result() {
      const total = Number.isNaN(sum) && !Number.isFinite(simple) ? simple : sum;
      return isAverage ? (count === 0 ? 0 : total / count) : total;
    },
  };
}
