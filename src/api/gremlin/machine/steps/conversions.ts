/** From texts to numbers, booleans and dates, and calculations with dates. */
import { compileError, runtimeError } from '../../errors.ts';
import {
  type GremlinNumber,
  isNumber,
  kindOf,
  type NumberKind,
  numberOf,
  parsedNumber,
  toDouble,
} from '../../model/number.ts';
import { Bytecode, EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { StepTable } from '../compiler.ts';
import { batchStep, evaluate, mapStep } from '../step.ts';
import { countOf } from './arguments.ts';
import { listMembers } from './text.ts';

export const CONVERSION_STEPS: StepTable = {
  asNumber: ({ args: [type] }) => {
    const kind = type === undefined ? undefined : kindNamed(type);
    return mapStep((value) => asNumber(value, kind));
  },
  asBool: () => mapStep(asBoolean),
  asDate: () => mapStep(asDate),
  dateAdd: ({ args: [unit, amount] }) => {
    const length = unit instanceof EnumValue ? UNIT_MS[unit.name] : undefined;
    if (length === undefined) throw compileError('dateAdd() needs a unit of time.');
    const ms = length * countOf(amount, 'dateAdd');
    return mapStep((value) => new Date(dateIn(value, 'dateAdd').getTime() + ms));
  },
  dateDiff: ({ args: [other = null] }, compiler) => {
    const child = other instanceof Bytecode ? compiler.pipeline(other) : undefined;
    return batchStep(async (batch, frame) => {
      const found = child === undefined ? undefined : await evaluate(child, batch, frame);
      return batch.map((traverser, at) => {
        const subtrahend = found === undefined ? other : (found[at]?.[0]?.value ?? null);
        const start = subtrahend === null ? 0 : dateIn(subtrahend, 'dateDiff').getTime();
        const ms = dateIn(traverser.value, 'dateDiff').getTime() - start;
        return traverser.to(numberOf('long', ms));
      });
    });
  },
};

const UNIT_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

function dateIn(value: GremlinValue, step: string): Date {
  if (value instanceof Date) return value;
  throw runtimeError(`${step} step only accept dates, encountered ${typeof value}`);
}

const KINDS: Readonly<Record<string, readonly [NumberKind, string]>> = {
  BYTE: ['byte', 'Byte'],
  SHORT: ['short', 'Short'],
  INT: ['int', 'Integer'],
  LONG: ['long', 'Long'],
  FLOAT: ['float', 'Float'],
  DOUBLE: ['double', 'Double'],
  BIGINT: ['bigInteger', 'BigInteger'],
  BIGDECIMAL: ['bigDecimal', 'BigDecimal'],
};

const KIND_NAMES: ReadonlyMap<NumberKind, string> = new Map(Object.values(KINDS));

function kindNamed(type: GremlinValue): NumberKind {
  const name = type instanceof EnumValue ? type.name : String(type);
  const [kind] = KINDS[name] ?? [];
  if (kind === undefined)
    throw runtimeError(`asNumber() requires a numeric type token, got ${name}`);
  return kind;
}

function asNumber(value: GremlinValue, kind: NumberKind | undefined): GremlinValue {
  if (isNumber(value)) return kind === undefined ? value : converted(value, kind);
  if (value instanceof Date) return numberOf('long', value.getTime());
  if (value === null) return null;
  if (typeof value !== 'string') {
    const type = listMembers(value) === undefined ? typeof value : 'ArrayList';
    throw runtimeError(`Can't parse type ${type} as number.`);
  }
  const number = parsedNumber(value);
  if (number === undefined) throw runtimeError(`Can't parse string '${value}' as number.`);
  return kind === undefined ? number : converted(number, kind);
}

const BITS: Readonly<Partial<Record<NumberKind, bigint>>> = {
  byte: 8n,
  short: 16n,
  int: 32n,
  long: 64n,
};

function converted(value: GremlinNumber, kind: NumberKind): GremlinNumber {
  if (kindOf(value) === kind) return value;
  const exact = typeof value === 'number' ? value : value.value;
  if (kind === 'bigDecimal') return numberOf(kind, String(exact));
  if (kind === 'float' || kind === 'double') return numberOf(kind, toDouble(value));
  const overflow = (): Error =>
    runtimeError(
      `Can't convert number of type ${KIND_NAMES.get(kindOf(value))} to ${KIND_NAMES.get(kind)} due to overflow.`,
    );
  const whole =
    typeof exact === 'bigint'
      ? exact
      : typeof exact === 'string'
        ? BigInt(exact.split('.')[0] as string)
        : Number.isFinite(exact)
          ? BigInt(Math.trunc(exact))
          : undefined;
  if (whole === undefined) throw overflow();
  const bits = BITS[kind];
  if (bits !== undefined && BigInt.asIntN(Number(bits), whole) !== whole) throw overflow();
  return numberOf(kind, whole);
}

function asBoolean(value: GremlinValue): GremlinValue {
  if (typeof value === 'boolean') return value;
  if (isNumber(value)) {
    const number = toDouble(value);
    return !Number.isNaN(number) && number !== 0;
  }
  if (typeof value === 'string') {
    const text = value.trim().toLowerCase();
    if (text === 'true' || text === 'false') return text === 'true';
    throw runtimeError(`Can't parse ${value} as Boolean.`);
  }
  throw runtimeError(`Can't parse ${value === null ? 'null' : typeof value} as Boolean.`);
}

function asDate(value: GremlinValue): GremlinValue {
  if (value instanceof Date) return value;
  const isWhole = isNumber(value) && Number.isInteger(toDouble(value));
  const ms = isWhole ? toDouble(value) : typeof value === 'string' ? parsedDate(value) : Number.NaN;
  const date = new Date(ms);
  if (Number.isNaN(date.getTime()))
    throw runtimeError(`Can't parse ${value === null ? 'null' : String(value)} as Date.`);
  return date;
}

/** ISO 8601; a text without an offset is in UTC. */
function parsedDate(text: string): number {
  const isIso = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(text);
  if (!isIso) return Number.NaN;
  const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) && text.includes('T');
  return Date.parse(hasZone || !text.includes('T') ? text : `${text}Z`);
}
