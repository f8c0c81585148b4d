/** Arithmetic: numbers of any two types, and times with durations. */
import type { Bytes } from '../../../../base/index.ts';
import type { Operator } from '../../cql/ast.ts';
import { CqlError, invalid } from '../../errors.ts';
import { type CqlType, type NativeName, native } from '../../types/cql-type.ts';
import { durationOf, durationText } from '../../types/duration.ts';
import { int64Bytes, int64Of } from '../../types/native-values.ts';
import type { FunctionCandidate } from './candidate.ts';
import {
  decimalArithmetic,
  doubleArithmetic,
  integerArithmetic,
  numberBytes,
  numberOf,
  toDecimal,
  toDouble,
} from './numbers.ts';

const SIZES: readonly (readonly [NativeName, number])[] = [
  ['tinyint', 1],
  ['smallint', 2],
  ['int', 4],
  ['bigint', 8],
  ['float', 4],
  ['double', 8],
  ['decimal', 99],
  ['varint', 99],
  ['counter', 8],
];
const SIZE_OF: ReadonlyMap<string, number> = new Map(SIZES);
const FLOATING: ReadonlySet<string> = new Set(['float', 'double', 'decimal']);

/** The functions of an operator, one for each pair of types. */
export function operatorCandidates(operator: Operator): readonly FunctionCandidate[] {
  const known = CANDIDATES.get(operator);
  if (known !== undefined) return known;
  const made = [
    ...numericCandidates(operator),
    ...temporalCandidates(operator),
    ...(operator === '+' ? TEXT_CANDIDATES : []),
  ];
  CANDIDATES.set(operator, made);
  return made;
}

const CANDIDATES = new Map<Operator, readonly FunctionCandidate[]>();

function numericCandidates(operator: Operator): readonly FunctionCandidate[] {
  return SIZES.flatMap(([left]) =>
    SIZES.map(([right]): FunctionCandidate => {
      const result = resultType(left, right);
      return {
        keyspace: 'system',
        name: operator,
        arguments: [native(left), native(right)],
        result: native(result),
        run: ([a, b]) =>
          isMissing(a) || isMissing(b)
            ? null
            : guarded(operator, left, right, () => compute(operator, result, left, a, right, b)),
      };
    }),
  );
}

function isMissing(value: Bytes | null | undefined): value is null | undefined {
  return value === null || value === undefined || value.length === 0;
}

function resultType(left: NativeName, right: NativeName): NativeName {
  const size = Math.max(SIZE_OF.get(left) ?? 0, SIZE_OF.get(right) ?? 0);
  if (FLOATING.has(left) || FLOATING.has(right))
    return size === 4 ? 'float' : size === 8 ? 'double' : size < 4 ? 'float' : 'decimal';
  return size === 1
    ? 'tinyint'
    : size === 2
      ? 'smallint'
      : size === 4
        ? 'int'
        : size === 8
          ? 'bigint'
          : 'varint';
}

function compute(
  operator: Operator,
  result: NativeName,
  leftType: NativeName,
  left: Bytes,
  rightType: NativeName,
  right: Bytes,
): Bytes {
  const [a, b] = [numberOf(leftType, left), numberOf(rightType, right)];
  if (result === 'decimal')
    return numberBytes(result, decimalArithmetic(operator, toDecimal(a), toDecimal(b)));
  if (result === 'float')
    return numberBytes(
      result,
      doubleArithmetic(operator, Math.fround(toDouble(a)), Math.fround(toDouble(b))),
    );
  if (result === 'double')
    return numberBytes(result, doubleArithmetic(operator, toDouble(a), toDouble(b)));
  if (result === 'varint' && b === 0n && (operator === '/' || operator === '%'))
    throw new RangeError('BigInteger divide by zero');
  return numberBytes(result, integerArithmetic(operator, a as bigint, b as bigint));
}

function guarded(operator: Operator, left: NativeName, right: NativeName, run: () => Bytes): Bytes {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof CqlError)) throw error;
    throw new CqlError(
      'functionFailure',
      `the operation '${left} ${operator} ${right}' failed: ${error.message}`,
      { kind: 'function', keyspace: 'system', name: operator, types: [left, right] },
    );
  }
}

function temporalCandidates(operator: Operator): readonly FunctionCandidate[] {
  if (operator !== '+' && operator !== '-') return [];
  const sign = operator === '+' ? 1n : -1n;
  return (['timestamp', 'date'] as const).map((name) => ({
    keyspace: 'system',
    name: operator,
    arguments: [native(name), native('duration')],
    result: native(name),
    run: ([time, duration]) =>
      isMissing(time) || isMissing(duration)
        ? null
        : guarded(operator, name, 'duration', () =>
            name === 'timestamp'
              ? movedTimestamp(time, duration, sign)
              : movedDate(time, duration, sign),
          ),
  }));
}

const DAY_MS = 86_400_000;
const EPOCH_DAY = 2 ** 31;

function movedMs(ms: number, duration: Bytes, sign: bigint): number {
  const { months, days, nanoseconds } = durationOf(duration);
  const date = new Date(ms);
  const wanted = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + Number(sign * months));
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(wanted, last));
  return date.getTime() + Number(sign * days) * DAY_MS + Number((sign * nanoseconds) / 1_000_000n);
}

function movedTimestamp(time: Bytes, duration: Bytes, sign: bigint): Bytes {
  if (durationOf(duration).nanoseconds % 1_000_000n !== 0n)
    throw invalid(`The duration must have a millisecond precision. Was: ${durationText(duration)}`);
  return int64Bytes(BigInt(finite(movedMs(Number(int64Of(time)), duration, sign))));
}

function finite(ms: number): number {
  if (!Number.isFinite(ms)) throw new RangeError('The time is out of range');
  return ms;
}

function movedDate(date: Bytes, duration: Bytes, sign: bigint): Bytes {
  if (durationOf(duration).nanoseconds !== 0n)
    throw invalid(`The duration must have a day precision. Was: ${durationText(duration)}`);
  const days = Buffer.from(date).readUInt32BE(0) - EPOCH_DAY;
  const moved = finite(movedMs(days * DAY_MS, duration, sign)) / DAY_MS + EPOCH_DAY;
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(moved);
  return bytes;
}

/** Texts one after the other. */
const TEXT_CANDIDATES: readonly FunctionCandidate[] = (['text', 'ascii'] as const).flatMap((left) =>
  (['text', 'ascii'] as const).map(
    (right): FunctionCandidate => ({
      keyspace: 'system',
      name: '+',
      arguments: [native(left), native(right)],
      result: native(left === 'ascii' && right === 'ascii' ? 'ascii' : 'text'),
      run: ([a, b]) =>
        a === null || a === undefined || b === null || b === undefined
          ? null
          : Buffer.concat([a, b]),
    }),
  ),
);

export const NEGATIONS: readonly FunctionCandidate[] = SIZES.map(([name]) => ({
  keyspace: 'system',
  name: '-',
  arguments: [native(name)],
  result: native(name) as CqlType,
  run: ([value]) => (isMissing(value) ? null : negated(name, value)),
}));

function negated(name: NativeName, bytes: Bytes): Bytes {
  const value = numberOf(name, bytes);
  if (typeof value === 'bigint' || typeof value === 'number') return numberBytes(name, -value);
  return numberBytes(name, { unscaled: -value.unscaled, scale: value.scale });
}
