/** All containers at a glance: their load, their hottest partition, what deserves a look. Opens no partition. */
import {
  type ContainerRecord,
  type DatabaseRecord,
  provisionedMax,
} from '../../../catalog/index.ts';
import type { Route } from '../../../cluster/index.ts';
import { partitionKeyOfPrimary } from '../../../partition/index.ts';
import type { Service } from '../../../service/index.ts';
import type { Value } from '../../../value/index.ts';
import { roundTo } from './partitions.ts';
import type { SeriesRecorder } from './series.ts';

/** An API of this server; no endpoint where it is not served. */
export interface ApiState {
  readonly api: string;
  readonly endpoint: string | null;
  readonly state: 'served' | 'off';
}

interface OverviewReport {
  readonly version: string;
  /** Seconds since 1970. */
  readonly since: number;
  readonly apis: readonly ApiState[];
  readonly totals: {
    readonly ruPerSec: number;
    readonly throttledPercent: number;
    readonly bytes: number;
    readonly partitions: number;
  };
  readonly databases: readonly { readonly id: string; readonly throughput: number | null }[];
  readonly containers: readonly ContainerOverview[];
}

interface ContainerOverview {
  readonly db: string;
  readonly container: string;
  readonly api: string;
  readonly kind: string;
  readonly partitionKey: readonly string[];
  /** RU/s; null where it shares its database's. */
  readonly throughput: number | null;
  readonly isAutoscale: boolean;
  readonly partitions: number;
  /** Counts of open partitions; null where none is open. */
  readonly items: number | null;
  readonly bytes: number | null;
  /** The last second. */
  readonly ruPerSec: number;
  /** RU by seconds of the last minute. */
  readonly lastMinute: readonly number[];
  readonly throttledLastMinute: number;
  readonly hottest: { readonly partition: string; readonly percent: number } | null;
  /** The largest key and its share of what a key may hold; null where no partition is near the limit. */
  readonly largestKey: LargestKey | null;
  readonly alerts: readonly Alert[];
}

interface LargestKey {
  readonly partition: string;
  readonly key: readonly unknown[] | undefined;
  readonly bytes: number;
  readonly percent: number;
}

interface Alert {
  readonly kind: 'hotKey' | 'keyNearLimit';
  readonly partition: string;
  /** The values of the partition key; absent where only its hash is known. */
  readonly key: readonly unknown[] | undefined;
  readonly percent: number;
  readonly message: string;
}

interface OverviewParts {
  readonly service: Service;
  readonly recorder: SeriesRecorder;
  readonly version: string;
  readonly apis: () => readonly ApiState[];
}

/** The most containers in a report; a screen has some dozens. */
const CONTAINERS_MAX = 500;

export function reportOverview(parts: OverviewParts): OverviewReport {
  const { service, recorder, version, apis } = parts;
  const databases = service.databases.list();
  const containers = databases.flatMap((database) =>
    service.containers.list(database).map((container) => ({ database, container })),
  );
  const totals = { ruPerSec: 0, bytes: 0, partitions: 0, throttled: 0, served: 0 };
  const rows = containers.map(({ database, container }) => {
    const row = overviewOf(parts, database, container);
    totals.ruPerSec += row.ruPerSec;
    totals.bytes += row.bytes ?? 0;
    totals.partitions += row.partitions;
    totals.throttled += row.throttledLastMinute;
    totals.served += row.served;
    return row.report;
  });
  const requests = totals.throttled + totals.served;
  return {
    version,
    since: recorder.sinceSec,
    apis: apis(),
    totals: {
      ruPerSec: roundTo(totals.ruPerSec, 1),
      throttledPercent: requests === 0 ? 0 : roundTo((100 * totals.throttled) / requests, 1),
      bytes: totals.bytes,
      partitions: totals.partitions,
    },
    databases: databases.map(({ id, throughput }) => ({
      id,
      throughput: throughput === undefined ? null : provisionedMax(throughput.setting),
    })),
    containers: rows.slice(0, CONTAINERS_MAX),
  };
}

interface Row {
  readonly report: ContainerOverview;
  readonly ruPerSec: number;
  readonly bytes: number | null;
  readonly partitions: number;
  readonly throttledLastMinute: number;
  readonly served: number;
}

function overviewOf(
  { service, recorder }: OverviewParts,
  database: DatabaseRecord,
  container: ContainerRecord,
): Row {
  const routes = service.containers.routes(container);
  let items: number | null = null;
  let bytes: number | null = null;
  let ruPerSec = 0;
  let throttledLastMinute = 0;
  let served = 0;
  let hottest: ContainerOverview['hottest'] = null;
  for (const route of routes) {
    const statistics = route.handle.partition?.statistics();
    if (statistics !== undefined) {
      items = (items ?? 0) + statistics.itemCount;
      bytes = (bytes ?? 0) + statistics.itemBytes;
    }
    ruPerSec += recorder.lastSecond(route);
    const budget = service.containers.budget(route);
    throttledLastMinute += budget.throttledLastMinute;
    served += recorder.servedLastMinute(route);
    const percent = roundTo(budget.normalizedPercent, 1);
    if (percent > (hottest?.percent ?? 0)) hottest = { partition: route.partition.id, percent };
  }
  const { throughput } = container;
  const report: ContainerOverview = {
    db: database.id,
    container: container.id,
    api: container.home,
    kind: container.kind,
    partitionKey: container.partitionKey.systemKey === true ? [] : container.partitionKey.paths,
    throughput: throughput === undefined ? null : provisionedMax(throughput.setting),
    isAutoscale: throughput?.setting.kind === 'autoscale',
    partitions: routes.length,
    items,
    bytes,
    ruPerSec: roundTo(ruPerSec, 1),
    lastMinute: recorder.lastMinute(routes),
    throttledLastMinute,
    hottest,
    largestKey: largestKeyOf(routes),
    alerts: alertsOf(service, routes),
  };
  return { report, ruPerSec, bytes, partitions: routes.length, throttledLastMinute, served };
}

function largestKeyOf(routes: readonly Route[]): LargestKey | null {
  let largest: LargestKey | null = null;
  for (const route of routes) {
    const { limits } = route.handle;
    const heavy = limits?.sizes?.heavy()[0];
    if (limits === undefined || heavy === undefined || heavy.bytes <= (largest?.bytes ?? 0))
      continue;
    largest = {
      partition: route.partition.id,
      key: keyOf(route, heavy.primary),
      bytes: heavy.bytes,
      percent: roundTo((100 * heavy.bytes) / limits.keyMax, 1),
    };
  }
  return largest;
}

/** A key deserves a look where it takes this share of the load of a partition that refuses requests. */
const HOT_KEY_PERCENT = 40;
const NEAR_LIMIT_PERCENT = 70;
const ALERTS_MAX = 3;

function alertsOf(service: Service, routes: readonly Route[]): readonly Alert[] {
  const alerts: Alert[] = [];
  for (const route of routes) {
    const hot = hotKeyAlert(service, route);
    const near = nearLimitAlert(route);
    if (hot !== undefined) alerts.push(hot);
    if (near !== undefined) alerts.push(near);
  }
  return alerts.sort((a, b) => b.percent - a.percent).slice(0, ALERTS_MAX);
}

function hotKeyAlert(service: Service, route: Route): Alert | undefined {
  if (service.containers.budget(route).throttledLastMinute === 0) return undefined;
  const { requestUnits, keys } = service.containers.heat(route);
  const [hottest] = keys;
  if (hottest === undefined || requestUnits === 0) return undefined;
  const percent = roundTo((100 * hottest.requestUnits) / requestUnits, 1);
  if (percent < HOT_KEY_PERCENT) return undefined;
  const { id } = route.partition;
  return {
    kind: 'hotKey',
    partition: id,
    key: keyOf(route, hottest.primary),
    percent,
    message: `One key takes ${percent} % of the request units of partition ${id}, which refuses requests. More RU/s do not help it: one key is always in one partition.`,
  };
}

function nearLimitAlert(route: Route): Alert | undefined {
  const { limits } = route.handle;
  const largest = limits?.sizes?.heavy()[0];
  if (limits === undefined || largest === undefined) return undefined;
  const percent = roundTo((100 * largest.bytes) / limits.keyMax, 1);
  if (percent < NEAR_LIMIT_PERCENT) return undefined;
  return {
    kind: 'keyNearLimit',
    partition: route.partition.id,
    key: keyOf(route, largest.primary),
    percent,
    message: `One key of partition ${route.partition.id} has ${percent} % of the bytes that a key may have.`,
  };
}

/** Keys are shown to a bounded length, as they may be large. */
const KEY_TEXT_MAX = 200;

function keyOf(
  { container }: Route,
  primary: Uint8Array | undefined,
): readonly unknown[] | undefined {
  if (primary === undefined) return undefined;
  return partitionKeyOfPrimary(primary, container.partitionKey.paths.length).map((value: Value) =>
    typeof value === 'string' ? value.slice(0, KEY_TEXT_MAX) : (value ?? null),
  );
}
