/** Operators of dates. */
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { doubleOf, isNumber, wholeCount, wholeNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import {
  DAY_MS,
  dayOfYear,
  daysOf,
  daysOfIsoWeek,
  isoWeekOf,
  partsOf,
  weekdayOf,
  weekOfYear,
} from '../dates/calendar.ts';
import { canParse, parseDate, parseDateBy } from '../dates/parser.ts';
import { checkFormat, printDate } from '../dates/print.ts';
import { fromLocal, type TimeZone, timeZone, toLocal, UTC } from '../dates/time-zone.ts';
import {
  addUnits,
  parseUnit,
  parseWeekday,
  truncate,
  type Unit,
  unitsBetween,
} from '../dates/units.ts';
import {
  type CompileOperator,
  compileOption,
  folded,
  isNullish,
  type OperatorTable,
  parseOptions,
  typeName,
} from './define.ts';
import { constantOf, type Evaluate, type Frame, type Scope } from './scope.ts';

type Value = Bson | undefined;

export const DATES: OperatorTable = {
  $dateAdd: shift(1),
  $dateDiff: dateDiff,
  $dateFromParts: dateFromParts,
  $dateFromString: dateFromString,
  $dateSubtract: shift(-1),
  $dateToParts: dateToParts,
  $dateToString: dateToString,
  $dateTrunc: dateTrunc,
  $dayOfMonth: part((local) => partsOf(local).day),
  $dayOfWeek: part((local) => weekdayOf(local) + 1),
  $dayOfYear: part(dayOfYear),
  $hour: part((local) => partsOf(local).hour),
  $isoDayOfWeek: part((local) => weekdayOf(local) || 7),
  $isoWeek: part((local) => isoWeekOf(local).week),
  $isoWeekYear: part((local) => BigInt(isoWeekOf(local).year)),
  $millisecond: part((local) => partsOf(local).ms),
  $minute: part((local) => partsOf(local).minute),
  $month: part((local) => partsOf(local).month),
  $second: part((local) => partsOf(local).second),
  $week: part(weekOfYear),
  $year: part((local) => partsOf(local).year),
};

export function dateOf(ms: number): Extended {
  return new Extended({ kind: 'date', ms });
}

/** The time of a date, a timestamp or an object id; undefined for everything else. */
export function timeOf(value: Value): number | undefined {
  if (!(value instanceof Extended)) return undefined;
  const { payload } = value;
  if (payload.kind === 'date') return payload.ms;
  if (payload.kind === 'timestamp') return payload.high * 1000;
  if (payload.kind === 'objectId')
    return new DataView(payload.bytes.buffer, payload.bytes.byteOffset).getInt32(0) * 1000;
  return undefined;
}

function requireTime(value: Value): number {
  const ms = timeOf(value);
  if (ms === undefined)
    throw new MongoError(
      'Location16006',
      `can't convert from BSON type ${typeName(value)} to Date`,
    );
  return ms;
}

/** The zone of an option: UTC where it was not sent, undefined where it is null. */
function zoneOf(sent: Evaluate | undefined, frame: Frame): TimeZone | undefined {
  if (sent === undefined) return UTC;
  const value = sent(frame);
  if (isNullish(value)) return undefined;
  if (typeof value !== 'string')
    throw new MongoError(
      'Location40517',
      `timezone must evaluate to a string, found ${typeName(value)}`,
    );
  return timeZone(value);
}

/** A part of a date, as `{ $year: date }` or with the options date and timezone. */
function part(read: (local: number) => Bson): CompileOperator {
  return (argument, scope, name) => {
    let sent = argument;
    if (isArray(argument)) {
      if (argument.length !== 1)
        throw new MongoError(
          'Location40536',
          `${name} accepts exactly one argument if given an array, but was given ${argument.length}`,
        );
      sent = argument[0] as Bson;
    }
    let zone: Evaluate | undefined;
    if (isDocument(sent) && ![...sent.keys()][0]?.startsWith('$')) {
      const options = parseOptions(sent, name, {
        notObject: 'Location40536',
        unknown: 'Location40535',
        required: { date: 'Location40539' },
        optional: ['timezone'],
      });
      zone = compileOption(options, 'timezone', scope);
      sent = options.get('date') as Bson;
    }
    const date = scope.compile(sent);
    return folded(
      (frame) => {
        const value = date(frame);
        const own = zoneOf(zone, frame);
        if (isNullish(value) || own === undefined) return null;
        return read(toLocal(requireTime(value), own));
      },
      [date, zone],
    );
  };
}

const DEFAULT_FORMAT = '%Y-%m-%dT%H:%M:%S.%LZ';
const DEFAULT_LOCAL_FORMAT = '%Y-%m-%dT%H:%M:%S.%L';

function dateToString(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$dateToString', {
    notObject: 'Location18629',
    unknown: 'Location18534',
    required: { date: 'Location18628' },
    optional: ['format', 'timezone', 'onNull'],
  });
  const date = scope.compile(options.get('date') as Bson);
  const format = compileOption(options, 'format', scope);
  const zone = compileOption(options, 'timezone', scope);
  const onNull = compileOption(options, 'onNull', scope);
  const known = format === undefined ? undefined : constantOf(format);
  if (known !== undefined) formatOf(known.value);
  return folded(
    (frame) => {
      const value = date(frame);
      const text = format === undefined ? undefined : formatOf(format(frame));
      const own = zoneOf(zone, frame);
      if (isNullish(value)) return onNull === undefined ? null : onNull(frame);
      if (text === null || own === undefined) return null;
      const ms = requireTime(value);
      const isLocal = zone !== undefined && !own.isUtc;
      return printDate(ms, text ?? (isLocal ? DEFAULT_LOCAL_FORMAT : DEFAULT_FORMAT), own);
    },
    [date, format, zone, onNull],
  );
}

/** Null where the format is null. */
function formatOf(value: Value): string | null {
  if (isNullish(value)) return null;
  if (typeof value !== 'string')
    throw new MongoError(
      'Location18533',
      `$dateToString requires that 'format' be a string, found: ${typeName(value)}`,
    );
  checkFormat(value);
  return value;
}

function dateFromString(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$dateFromString', {
    notObject: 'Location40540',
    unknown: 'Location40541',
    required: { dateString: 'Location40542' },
    optional: ['format', 'timezone', 'onError', 'onNull'],
  });
  const text = scope.compile(options.get('dateString') as Bson);
  const format = compileOption(options, 'format', scope);
  const zone = compileOption(options, 'timezone', scope);
  const onError = compileOption(options, 'onError', scope);
  const onNull = compileOption(options, 'onNull', scope);
  const read = (frame: Frame): Value => {
    const value = text(frame);
    const own = zone === undefined ? undefined : (zoneOf(zone, frame) ?? null);
    const pattern = format === undefined ? undefined : parseFormatOf(format(frame));
    if (isNullish(value)) return onNull === undefined ? null : onNull(frame);
    if (pattern === null || own === null) return null;
    if (typeof value !== 'string')
      throw new MongoError(
        'ConversionFailure',
        `$dateFromString requires that 'dateString' be a string, found: ${typeName(value)}`,
      );
    const ms = pattern === undefined ? parseDate(value, own) : parseDateBy(value, pattern, own);
    if (ms === undefined)
      throw new MongoError('ConversionFailure', `Error parsing date string '${value}'`);
    return dateOf(ms);
  };
  return folded(
    (frame) => {
      if (onError === undefined) return read(frame);
      try {
        return read(frame);
      } catch (error) {
        if (!(error instanceof MongoError) || error.mongoCode !== 'ConversionFailure') throw error;
        return onError(frame);
      }
    },
    [text, format, zone, onError, onNull],
  );
}

function parseFormatOf(value: Value): string | null {
  if (isNullish(value)) return null;
  if (typeof value !== 'string')
    throw new MongoError(
      'Location40684',
      `$dateFromString requires that 'format' be a string, found: ${typeName(value)}`,
    );
  checkFormat(value);
  if (!canParse(value))
    throw new MongoError('Location18536', 'Invalid format character in format string');
  return value;
}

const CALENDAR_PARTS = ['year', 'month', 'day'] as const;
const ISO_PARTS = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] as const;
const TIME_PARTS = ['hour', 'minute', 'second', 'millisecond'] as const;

function dateFromParts(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$dateFromParts', {
    notObject: 'Location40519',
    unknown: 'Location40518',
    optional: [...CALENDAR_PARTS, ...ISO_PARTS, ...TIME_PARTS, 'timezone'],
  });
  const hasIso = ISO_PARTS.some((name) => options.has(name));
  const hasCalendar = CALENDAR_PARTS.some((name) => options.has(name));
  if (!options.has('year') && !options.has('isoWeekYear'))
    throw new MongoError(
      'Location40516',
      "$dateFromParts requires either 'year' or 'isoWeekYear' to be present",
    );
  if (options.has('year') && hasIso)
    throw new MongoError(
      'Location40489',
      '$dateFromParts does not allow mixing natural dates with ISO dates',
    );
  if (options.has('isoWeekYear') && hasCalendar)
    throw new MongoError(
      'Location40525',
      '$dateFromParts does not allow mixing ISO dates with natural dates',
    );
  const names = [...(hasIso ? ISO_PARTS : CALENDAR_PARTS), ...TIME_PARTS];
  const parts = names.map((name) => [name, compileOption(options, name, scope)] as const);
  const zone = compileOption(options, 'timezone', scope);
  return folded(
    (frame) => {
      const values: number[] = [];
      let hasNull = false;
      for (const [at, [name, evaluate]] of parts.entries()) {
        const value = evaluate === undefined ? undefined : evaluate(frame);
        if (evaluate === undefined) values.push(at < 3 ? 1 : 0);
        else if (isNullish(value)) hasNull = true;
        else values.push(partValue(value as Bson, name));
      }
      const own = zoneOf(zone, frame);
      if (hasNull || own === undefined) return null;
      return dateOf(fromLocal(localOf(values, hasIso), own));
    },
    [...parts.map(([, evaluate]) => evaluate), zone],
  );
}

function localOf(values: readonly number[], isIso: boolean): number {
  const [a, b, c, hour, minute, second, ms] = values as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const days = isIso ? daysOfIsoWeek(a, b, c) : daysOf(a, b, c);
  return days * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
}

const PART_MAX = 32_767;

function partValue(value: Bson, name: string): number {
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  if (whole === undefined)
    throw new MongoError(
      'Location40515',
      `'${name}' must evaluate to an integer, found ${typeName(value)}${isNumber(value) ? ` with value ${doubleOf(value)}` : ''}`,
    );
  if ((name === 'year' || name === 'isoWeekYear') && (whole < 1 || whole > 9999))
    throw new MongoError(
      'Location40523',
      `'${name}' must evaluate to an integer in the range 1 to 9999, found ${whole}`,
    );
  const isLong = name === 'second' || name === 'millisecond';
  if (!isLong && (whole < -PART_MAX - 1 || whole > PART_MAX))
    throw new MongoError(
      'Location31034',
      `'${name}' must evaluate to a value in the range [-32768, 32767]; value ${whole} is not in range`,
    );
  return whole;
}

function dateToParts(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$dateToParts', {
    notObject: 'Location40524',
    unknown: 'Location40520',
    required: { date: 'Location40522' },
    optional: ['timezone', 'iso8601'],
  });
  const date = scope.compile(options.get('date') as Bson);
  const zone = compileOption(options, 'timezone', scope);
  const iso = compileOption(options, 'iso8601', scope);
  return folded(
    (frame) => {
      const value = date(frame);
      const own = zoneOf(zone, frame);
      const isIso = iso === undefined ? false : iso(frame);
      if (isNullish(isIso)) return null;
      if (typeof isIso !== 'boolean')
        throw new MongoError(
          'Location40521',
          `iso8601 must evaluate to a bool, found ${typeName(isIso)}`,
        );
      if (isNullish(value) || own === undefined) return null;
      return datePartsOf(toLocal(requireTime(value), own), isIso);
    },
    [date, zone, iso],
  );
}

function datePartsOf(local: number, isIso: boolean): BsonDocument {
  const parts = partsOf(local);
  const time: [string, Bson][] = [
    ['hour', parts.hour],
    ['minute', parts.minute],
    ['second', parts.second],
    ['millisecond', parts.ms],
  ];
  if (!isIso)
    return new Map<string, Bson>([
      ['year', parts.year],
      ['month', parts.month],
      ['day', parts.day],
      ...time,
    ]);
  const { year, week } = isoWeekOf(local);
  return new Map<string, Bson>([
    ['isoWeekYear', year],
    ['isoWeek', week],
    ['isoDayOfWeek', weekdayOf(local) || 7],
    ...time,
  ]);
}

/** The unit of an option; undefined where it is null. */
function unitOf(sent: Evaluate, frame: Frame, name: string): Unit | undefined {
  const value = sent(frame);
  if (isNullish(value)) return undefined;
  if (typeof value !== 'string')
    throw new MongoError(
      'Location5439013',
      `${name} requires 'unit' to be a string, but got ${typeName(value)}`,
    );
  return parseUnit(value);
}

/** Beyond these a date is no int64 of milliseconds that the calendar reaches. */
const DATE_MS_MAX = 2 ** 63;

function shift(sign: 1 | -1): CompileOperator {
  return (argument, scope, name) => {
    const options = parseOptions(argument, name, {
      notObject: 'Location5166400',
      unknown: 'Location5166401',
      required: {
        startDate: 'Location5166402',
        unit: 'Location5166402',
        amount: 'Location5166402',
      },
      optional: ['timezone'],
    });
    const [start, unit, amount] = ['startDate', 'unit', 'amount'].map((option) =>
      scope.compile(options.get(option) as Bson),
    ) as [Evaluate, Evaluate, Evaluate];
    const zone = compileOption(options, 'timezone', scope);
    return folded(
      (frame) => {
        const value = start(frame);
        const own = unitOf(unit, frame, name);
        const by = amount(frame);
        const where = zoneOf(zone, frame);
        if (isNullish(value) || own === undefined || isNullish(by) || where === undefined)
          return null;
        const ms = timeOf(value);
        if (ms === undefined)
          throw new MongoError(
            'Location5166403',
            `${name} requires startDate to be convertible to a date`,
          );
        return dateOf(shifted(ms, own, sign * amountOf(by as Bson, name), where, name));
      },
      [start, unit, amount, zone],
    );
  };
}

function amountOf(value: Bson, name: string): number {
  const amount = wholeCount(value);
  if (amount === undefined || Math.abs(amount) > DATE_MS_MAX)
    throw new MongoError('Location5166405', `${name} expects integer amount of time units`);
  return amount;
}

function shifted(ms: number, unit: Unit, amount: number, zone: TimeZone, name: string): number {
  if (Math.abs(amount) > AMOUNT_MAX[unit])
    throw new MongoError(
      'Location5976500',
      `invalid ${name} 'amount' parameter value: ${amount} ${unit}`,
    );
  const result = addUnits(ms, unit, amount, zone);
  if (!(Math.abs(result) < DATE_MS_MAX))
    throw new MongoError('Location5166406', `${name} overflowed`);
  return result;
}

/** Amounts beyond which no date is left. */
const AMOUNT_MAX: Readonly<Record<Unit, number>> = {
  year: 584_942_417,
  quarter: 584_942_417 * 4,
  month: 584_942_417 * 12,
  week: 30_500_568_904,
  day: 213_503_982_334,
  hour: 5_124_095_576_030,
  minute: 307_445_734_561_825,
  second: 307_445_734_561_825 * 60,
  millisecond: DATE_MS_MAX * 2,
};

/** The first day of weeks: Sunday where it was not sent, undefined where it is null. */
function weekStart(sent: Evaluate | undefined, unit: Unit, frame: Frame): number | undefined {
  if (sent === undefined) return 0;
  const value = sent(frame);
  if (isNullish(value)) return undefined;
  if (unit !== 'week') return 0;
  if (typeof value !== 'string')
    throw new MongoError(
      'Location5439015',
      `requires 'startOfWeek' to be a string, but got ${typeName(value)}`,
    );
  const day = parseWeekday(value);
  if (day === undefined)
    throw new MongoError('Location5439016', `unknown day of week value: ${value}`);
  return day;
}

function dateDiff(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$dateDiff', {
    notObject: 'Location5166301',
    unknown: 'Location5166302',
    required: {
      startDate: 'Location5166303',
      endDate: 'Location5166304',
      unit: 'Location5166305',
    },
    optional: ['timezone', 'startOfWeek'],
  });
  const [start, end, unit] = ['startDate', 'endDate', 'unit'].map((option) =>
    scope.compile(options.get(option) as Bson),
  ) as [Evaluate, Evaluate, Evaluate];
  const zone = compileOption(options, 'timezone', scope);
  const week = compileOption(options, 'startOfWeek', scope);
  return folded(
    (frame) => {
      const [from, to] = [start(frame), end(frame)];
      if (isNullish(from) || isNullish(to)) return null;
      const own = unitOf(unit, frame, '$dateDiff');
      const where = zoneOf(zone, frame);
      if (own === undefined || where === undefined) return null;
      const startOfWeek = weekStart(week, own, frame);
      if (startOfWeek === undefined) return null;
      const count = unitsBetween(knownTime(from, '$dateDiff'), knownTime(to, '$dateDiff'), own, {
        zone: where,
        startOfWeek,
      });
      return BigInt(count);
    },
    [start, end, unit, zone, week],
  );
}

function knownTime(value: Value, name: string): number {
  const ms = timeOf(value);
  if (ms === undefined)
    throw new MongoError(
      'Location5166307',
      `${name} requires the date to be a date, but got ${typeName(value)}`,
    );
  return ms;
}

function dateTrunc(argument: Bson, scope: Scope): Evaluate {
  const options = parseOptions(argument, '$dateTrunc', {
    notObject: 'Location5439007',
    unknown: 'Location5439008',
    required: { date: 'Location5439009', unit: 'Location5439010' },
    optional: ['binSize', 'timezone', 'startOfWeek'],
  });
  const date = scope.compile(options.get('date') as Bson);
  const unit = scope.compile(options.get('unit') as Bson);
  const bin = compileOption(options, 'binSize', scope);
  const zone = compileOption(options, 'timezone', scope);
  const week = compileOption(options, 'startOfWeek', scope);
  return folded(
    (frame) => {
      const value = date(frame);
      if (isNullish(value)) return null;
      const own = unitOf(unit, frame, '$dateTrunc');
      const size = bin === undefined ? 1 : binSize(bin(frame));
      const where = zoneOf(zone, frame);
      if (own === undefined || size === undefined || where === undefined) return null;
      const startOfWeek = weekStart(week, own, frame);
      if (startOfWeek === undefined) return null;
      const ms = knownTime(value, '$dateTrunc');
      checkBin(own, size);
      return dateOf(truncate(ms, { unit: own, size, zone: where, startOfWeek }));
    },
    [date, unit, bin, zone, week],
  );
}

function binSize(value: Value): number | undefined {
  if (isNullish(value)) return undefined;
  const double = isNumber(value) ? doubleOf(value as Bson) : Number.NaN;
  if (!Number.isInteger(double) || Math.abs(double) >= DATE_MS_MAX)
    throw new MongoError(
      'Location5439017',
      `$dateTrunc requires 'binSize' to be a 64-bit integer, but got value of type ${typeName(value)}`,
    );
  if (double <= 0)
    throw new MongoError(
      'Location5439018',
      `$dateTrunc requires 'binSize' to be greater than 0, but got value ${double}`,
    );
  return double;
}

const BIN_MAX = 100_000_000_000;

function checkBin(unit: Unit, size: number): void {
  if (size < BIN_MAX && size * UNIT_MS[unit] < DATE_MS_MAX) return;
  const isLong = unit === 'year' || unit === 'quarter' || unit === 'month';
  throw new MongoError(
    isLong ? 'Location5439006' : 'Location5439002',
    '$dateTrunc unsupported binSize value',
  );
}

const UNIT_MS: Readonly<Record<Unit, number>> = {
  year: 365 * DAY_MS,
  quarter: 90 * DAY_MS,
  month: 30 * DAY_MS,
  week: 7 * DAY_MS,
  day: DAY_MS,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};
