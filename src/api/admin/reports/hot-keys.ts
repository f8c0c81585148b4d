/** The partition keys of a container that cost most, move most bytes and hold most bytes. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Route } from '../../../cluster/index.ts';
import { partitionKeyOfPrimary } from '../../../partition/index.ts';
import type { Service } from '../../../service/index.ts';
import { HEAT_MINUTES } from '../../../throughput/index.ts';
import { epkToHex, type Value } from '../../../value/index.ts';
import { namedContainer } from './partitions.ts';

/** The most rows of a list: as many as fit a screen. */
const KEYS_MAX = 20;

interface HotKeysReport {
  readonly db: string;
  readonly container: string;
  /** The time that the figures cover. */
  readonly minutes: number;
  readonly byRequestUnits: readonly HotKeyReport[];
  readonly byBytes: readonly HotKeyReport[];
  /** Keys that hold a notable share of the key limit; counted only where a partition is near the limit. */
  readonly largest: readonly LargeKeyReport[];
}

interface KeyReport {
  readonly partition: string;
  /** Null where a value is missing from the items; undefined where only the hash is known. */
  readonly key: readonly unknown[] | undefined;
  /** The effective partition key, hexadecimal. */
  readonly hash: string;
}

interface HotKeyReport extends KeyReport {
  readonly requestUnits: number;
  /** Share of all request units of its partition. */
  readonly percent: number;
  readonly bytes: number;
}

interface LargeKeyReport extends KeyReport {
  readonly bytes: number;
  /** Share of the key limit. */
  readonly percent: number;
}

/** Opens no partition. Throws DomainError where the container is missing or not named. */
export function reportHotKeys(service: Service, query: URLSearchParams): HotKeysReport {
  const { database, container } = namedContainer(service, query);
  const routes = service.containers.routes(container);
  const hot = routes.flatMap((route) => hotKeys(service, route));
  return {
    db: database.id,
    container: container.id,
    minutes: HEAT_MINUTES,
    byRequestUnits: largestBy(hot, ({ requestUnits }) => requestUnits),
    byBytes: largestBy(hot, ({ bytes }) => bytes),
    largest: largestBy(routes.flatMap(largeKeys), ({ bytes }) => bytes),
  };
}

function hotKeys(service: Service, route: Route): readonly HotKeyReport[] {
  const { requestUnits: all, keys } = service.containers.heat(route);
  return keys.map(({ epk, primary, requestUnits, bytes }) => ({
    ...keyReport(route, epk, primary),
    requestUnits: Math.round(requestUnits * 100) / 100,
    percent: percentOf(requestUnits, all),
    bytes: Math.round(bytes),
  }));
}

/** Largest first. */
function largeKeys(route: Route): readonly LargeKeyReport[] {
  const { limits } = route.handle;
  return (limits?.sizes?.heavy() ?? []).slice(0, KEYS_MAX).map(({ epk, primary, bytes }) => ({
    ...keyReport(route, epk, primary),
    bytes,
    percent: percentOf(bytes, limits?.keyMax ?? 0),
  }));
}

function keyReport(
  { partition, container }: Route,
  epk: Uint8Array,
  primary: Uint8Array | undefined,
): KeyReport {
  return {
    partition: partition.id,
    key: primary && printable(primary, container),
    hash: epkToHex(epk),
  };
}

function printable(primary: Uint8Array, { partitionKey }: ContainerRecord): readonly unknown[] {
  return partitionKeyOfPrimary(primary, partitionKey.paths.length).map(
    (value: Value) => value ?? null,
  );
}

function largestBy<T>(keys: readonly T[], weight: (key: T) => number): readonly T[] {
  return [...keys].sort((a, b) => weight(b) - weight(a)).slice(0, KEYS_MAX);
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((1000 * part) / whole) / 10;
}
