/** Functions of times and uuids: one table by name, each with the types of its argument. */
import { type Bytes, bufferOf } from '../../../../base/index.ts';
import { type CqlType, type NativeName, native } from '../../types/cql-type.ts';
import { int64Bytes, int64Of } from '../../types/native-values.ts';
import type { Call } from '../plan.ts';
import type { FunctionCandidate } from './candidate.ts';

/** Hundreds of nanoseconds from 1582 to 1970. */
const UUID_EPOCH = 0x01b21dd213814000n;
const DAY_MS = 86_400_000n;
const EPOCH_DAY = 2n ** 31n;

type Convert = (value: Bytes) => Bytes;

/** By name, then by the type of the argument. */
const CONVERSIONS: Readonly<
  Record<
    string,
    { readonly result: NativeName; readonly of: Readonly<Partial<Record<NativeName, Convert>>> }
  >
> = {
  dateof: { result: 'timestamp', of: { timeuuid: (uuid) => int64Bytes(uuidMs(uuid)) } },
  maxtimeuuid: {
    result: 'timeuuid',
    of: { timestamp: (time) => boundUuid(int64Of(time), true) },
  },
  mintimeuuid: {
    result: 'timeuuid',
    of: { timestamp: (time) => boundUuid(int64Of(time), false) },
  },
  todate: {
    result: 'date',
    of: {
      timeuuid: (uuid) => dateBytes(uuidMs(uuid)),
      timestamp: (time) => dateBytes(int64Of(time)),
    },
  },
  totimestamp: {
    result: 'timestamp',
    of: {
      timeuuid: (uuid) => int64Bytes(uuidMs(uuid)),
      date: (date) => int64Bytes(dateMs(date)),
    },
  },
  tounixtimestamp: {
    result: 'bigint',
    of: {
      timeuuid: (uuid) => int64Bytes(uuidMs(uuid)),
      timestamp: (time) => time,
      date: (date) => int64Bytes(dateMs(date)),
    },
  },
  unixtimestampof: { result: 'bigint', of: { timeuuid: (uuid) => int64Bytes(uuidMs(uuid)) } },
};

/** Functions without arguments: their values change from call to call. */
const MOMENTS: Readonly<Record<string, { readonly result: NativeName; run(call: Call): Bytes }>> = {
  currentdate: { result: 'date', run: (call) => dateBytes(nowMs(call)) },
  currenttime: {
    result: 'time',
    run: (call) => int64Bytes((nowMs(call) % DAY_MS) * 1_000_000n),
  },
  currenttimestamp: { result: 'timestamp', run: (call) => int64Bytes(nowMs(call)) },
  currenttimeuuid: { result: 'timeuuid', run: timeUuid },
  now: { result: 'timeuuid', run: timeUuid },
  uuid: { result: 'uuid', run: randomUuid },
};

export function timeCandidates(name: string): readonly FunctionCandidate[] {
  if (Object.hasOwn(MOMENTS, name)) {
    const { result, run } = MOMENTS[name] as (typeof MOMENTS)[string];
    return [
      {
        keyspace: 'system',
        name,
        arguments: [],
        result: native(result),
        run: (_, call) => run(call),
      },
    ];
  }
  if (!Object.hasOwn(CONVERSIONS, name)) return [];
  const { result, of } = CONVERSIONS[name] as (typeof CONVERSIONS)[string];
  return Object.entries(of).map(([type, convert]) => ({
    keyspace: 'system',
    name,
    arguments: [native(type as NativeName)],
    result: native(result),
    run: ([value]) =>
      value === null || value === undefined || value.length === 0
        ? null
        : (convert as Convert)(value),
  }));
}

/** The conversion of one type, for casts. */
export function findNative(
  name: 'todate' | 'totimestamp',
  type: CqlType,
): ((values: readonly [Bytes]) => Bytes) | undefined {
  const convert =
    type.kind === 'native'
      ? (CONVERSIONS[name] as (typeof CONVERSIONS)[string]).of[type.name]
      : undefined;
  return convert && (([value]) => convert(value));
}

interface WithClock {
  readonly environment: Pick<Call['environment'], 'clock' | 'random'>;
}

function nowMs(call: WithClock): bigint {
  return BigInt(call.environment.clock.nowMs());
}

function dateBytes(ms: bigint): Bytes {
  const bytes = Buffer.allocUnsafe(4);
  const day = ms >= 0n ? ms / DAY_MS : (ms - DAY_MS + 1n) / DAY_MS;
  bytes.writeUInt32BE(Number(BigInt.asUintN(32, day + EPOCH_DAY)));
  return bytes;
}

function dateMs(date: Bytes): bigint {
  return (BigInt(bufferOf(date).readUInt32BE(0)) - EPOCH_DAY) * DAY_MS;
}

function uuidMs(uuid: Bytes): bigint {
  const bytes = bufferOf(uuid);
  const time =
    (BigInt(bytes.readUInt16BE(6) & 0x0fff) << 48n) |
    (BigInt(bytes.readUInt16BE(4)) << 32n) |
    BigInt(bytes.readUInt32BE(0));
  return (time - UUID_EPOCH) / 10_000n;
}

/** A timeuuid of now. */
export function timeUuid(call: WithClock): Bytes {
  const { random } = call.environment;
  const sequence = Buffer.from(Array.from({ length: 8 }, () => random.below(256)));
  sequence[0] = ((sequence[0] as number) & 0x3f) | 0x80;
  sequence[2] = (sequence[2] as number) | 0x01;
  return uuidOfTime(nowMs(call) * 10_000n + BigInt(random.below(10_000)) + UUID_EPOCH, sequence);
}

/** The smallest or greatest uuid of a millisecond. */
function boundUuid(ms: bigint, isGreatest: boolean): Bytes {
  const time = ms * 10_000n + UUID_EPOCH + (isGreatest ? 9999n : 0n);
  return uuidOfTime(time, Buffer.alloc(8, isGreatest ? 0x7f : 0x80));
}

function uuidOfTime(time: bigint, rest: Bytes): Bytes {
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUInt32BE(Number(time & 0xffffffffn), 0);
  bytes.writeUInt16BE(Number((time >> 32n) & 0xffffn), 4);
  bytes.writeUInt16BE(Number((time >> 48n) & 0x0fffn) | 0x1000, 6);
  bytes.set(rest, 8);
  return bytes;
}

function randomUuid({ environment: { random } }: Call): Bytes {
  const bytes = Buffer.from(Array.from({ length: 16 }, () => random.below(256)));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes;
}
