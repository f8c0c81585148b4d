/**
 * Request units, refusals and bytes of every partition over time, in memory: five minutes by seconds, an hour by ten
 * seconds, a day by minutes. Sampling opens no partition; one that was never used has no series.
 */
import type { Clock } from '../../../base/index.ts';
import { containerFolder, type PartitionHandle, type Route } from '../../../cluster/index.ts';
import type { Service } from '../../../service/index.ts';
import type { BudgetTotals } from '../../../throughput/index.ts';
import { namedContainer, roundTo } from './partitions.ts';

export const WINDOWS = {
  '5m': { stepSec: 1, points: 300 },
  '1h': { stepSec: 10, points: 360 },
  '24h': { stepSec: 60, points: 1440 },
} as const;

type WindowName = keyof typeof WINDOWS;
const WINDOW_NAMES = Object.keys(WINDOWS) as WindowName[];

/** Some 34 KB each. Beyond that many a series takes the place of the one that was quiet for longest. */
const SERIES_MAX = 512;
/** One that was quiet for less keeps its place, so that more busy partitions than places do not take turns. */
const QUIET_SEC = 10;

const NO_TOTALS: BudgetTotals = { requestUnits: 0, throttled: 0, served: 0, provisioned: 0 };

interface Rings {
  readonly ru: Float32Array;
  readonly throttled: Float32Array;
  readonly served: Float32Array;
  readonly bytes: Float32Array;
}

interface PartitionSeries {
  readonly rings: Readonly<Record<WindowName, Rings>>;
  readonly firstSec: number;
  lastSec: number;
  /** The last second with requests. */
  activeSec: number;
}

/** One partition's part of a report: a value for each step, null before it began or after it ended. */
interface ReportedSeries {
  readonly id: string;
  readonly ru: readonly (number | null)[];
  /** Refused requests per second. */
  readonly throttled: readonly (number | null)[];
  readonly served: readonly (number | null)[];
  readonly bytes: readonly (number | null)[];
}

export interface SeriesReport {
  readonly stepSec: number;
  /** The time of the first point, seconds since 1970. */
  readonly from: number;
  /** Nothing is known from before. */
  readonly since: number;
  readonly partitions: readonly ReportedSeries[];
  readonly marks: readonly {
    readonly at: number;
    readonly kind: string;
    readonly cause: string;
    readonly parents: readonly string[];
    readonly children: readonly string[];
  }[];
}

function windowIn(query: URLSearchParams) {
  const asked = query.get('window');
  return WINDOW_NAMES.find((name) => name === asked) ?? '5m';
}

export class SeriesRecorder {
  readonly #service: Service;
  readonly #clock: Clock;
  /** By the names of the stores, the one that was quiet for longest first. */
  readonly #series = new Map<string, PartitionSeries>();
  /** What was known of a partition at the last sample, also where it has no series. */
  readonly #totals = new WeakMap<PartitionHandle, BudgetTotals>();
  readonly sinceSec: number;
  #sec: number;
  /** Reports of this second as texts: all who look at a container share one. */
  readonly #texts = new Map<string, string>();

  constructor(service: Service, clock: Clock) {
    this.#service = service;
    this.#clock = clock;
    this.sinceSec = Math.floor(clock.nowMs() / 1000);
    this.#sec = this.sinceSec;
  }

  /** Notes what every partition did since the last call. Called every second. */
  sample(): void {
    const sec = Math.floor(this.#clock.nowMs() / 1000);
    if (sec <= this.#sec) return;
    for (const handle of this.#service.containers.handles())
      if (!handle.isGone) this.#note(handle, sec);
    this.#sec = sec;
    this.#texts.clear();
  }

  /** The report as JSON. */
  reportText(query: URLSearchParams): string {
    const { container } = namedContainer(this.#service, query);
    const { databaseRid, rid, routingVersion } = container;
    const name = `${databaseRid}/${rid} ${routingVersion} ${windowIn(query)}`;
    const text = this.#texts.get(name) ?? JSON.stringify(this.report(query));
    this.#texts.set(name, text);
    return text;
  }

  report(query: URLSearchParams): SeriesReport {
    const { container } = namedContainer(this.#service, query);
    const window = windowIn(query);
    const { stepSec, points } = WINDOWS[window];
    const lastStep = Math.floor(this.#sec / stepSec);
    const prefix = `${containerFolder(container)}/`;
    const partitions: ReportedSeries[] = [];
    for (const [name, series] of this.#series)
      if (name.startsWith(prefix))
        partitions.push(reported(name.slice(prefix.length), series, window, lastStep));
    const from = (lastStep - points + 1) * stepSec;
    return {
      stepSec,
      from,
      since: this.sinceSec,
      partitions,
      marks: this.#service.resizer.log
        .list(container)
        .filter(({ startedMs, state }) => state === 'done' && startedMs / 1000 >= from)
        .map(({ startedMs, durationMs = 0, kind, cause, parents, children }) => ({
          at: (startedMs + durationMs) / 1000,
          kind,
          cause,
          parents,
          children,
        })),
    };
  }

  /** RU of the last whole second, of one partition. */
  lastSecond({ handle }: Route): number {
    const series = this.#series.get(handle.storeName);
    return series === undefined ? 0 : (series.rings['5m'].ru[this.#sec % 300] as number);
  }

  /** Requests that one partition served in the last minute. */
  servedLastMinute({ handle }: Route): number {
    const series = this.#series.get(handle.storeName);
    if (series === undefined) return 0;
    let served = 0;
    for (let sec = Math.max(series.firstSec + 1, this.#sec - 59); sec <= this.#sec; sec++)
      served += series.rings['5m'].served[sec % 300] as number;
    return served;
  }

  /** RU by seconds of a whole container, the last minute, oldest first. */
  lastMinute(routes: readonly Route[]): readonly number[] {
    const sums = new Array<number>(60).fill(0);
    for (const { handle } of routes) {
      const series = this.#series.get(handle.storeName);
      if (series === undefined) continue;
      for (let at = 0; at < 60; at++) {
        const sec = this.#sec - 59 + at;
        if (sec > series.firstSec)
          sums[at] = (sums[at] as number) + (series.rings['5m'].ru[sec % 300] as number);
      }
    }
    return sums.map((sum) => roundTo(sum, 1));
  }

  #note(handle: PartitionHandle, sec: number): void {
    const { totals } = handle.budget;
    const before = this.#totals.get(handle) ?? NO_TOTALS;
    const change = {
      ru: totals.requestUnits - before.requestUnits,
      throttled: totals.throttled - before.throttled,
      served: totals.served - before.served,
      bytes: handle.partition?.itemBytes,
    };
    const isQuiet = change.ru === 0 && change.throttled === 0;
    if (!isQuiet) this.#totals.set(handle, totals);
    const series = isQuiet
      ? this.#series.get(handle.storeName)
      : this.#activeSeries(handle.storeName, sec);
    if (series === undefined) return;
    for (const window of WINDOW_NAMES) addTo(series, window, sec, change);
    series.lastSec = sec;
  }

  /** The series of a partition that has had requests; undefined where there is no place for another. */
  #activeSeries(name: string, sec: number): PartitionSeries | undefined {
    let series = this.#series.get(name);
    if (series === undefined && this.#series.size >= SERIES_MAX) {
      const [quietest] = this.#series;
      if (quietest === undefined || sec - quietest[1].activeSec < QUIET_SEC) return undefined;
      this.#series.delete(quietest[0]);
    }
    series ??= newSeries(this.#sec);
    series.activeSec = sec;
    // Setting it again makes it the last of the map.
    this.#series.delete(name);
    this.#series.set(name, series);
    return series;
  }
}

function newSeries(sec: number): PartitionSeries {
  const rings = (points: number): Rings => ({
    ru: new Float32Array(points),
    throttled: new Float32Array(points),
    served: new Float32Array(points),
    bytes: new Float32Array(points),
  });
  const all = { '5m': rings(300), '1h': rings(360), '24h': rings(1440) };
  return { rings: all, firstSec: sec, lastSec: sec, activeSec: sec };
}

interface Change {
  readonly ru: number;
  readonly throttled: number;
  readonly served: number;
  /** Undefined where the partition is not open: the last value stays. */
  readonly bytes: number | undefined;
}

/** Rates are per second, so a step of several seconds adds a part of each. */
function addTo(series: PartitionSeries, window: WindowName, sec: number, change: Change): void {
  const { stepSec, points } = WINDOWS[window];
  const { ru, throttled, served, bytes } = series.rings[window];
  const last = Math.floor(series.lastSec / stepSec);
  const step = Math.floor(sec / stepSec);
  const known = bytes[last % points] as number;
  for (let at = Math.max(last + 1, step - points + 1); at <= step; at++) {
    ru[at % points] = 0;
    throttled[at % points] = 0;
    served[at % points] = 0;
    bytes[at % points] = known;
  }
  const cell = step % points;
  ru[cell] = (ru[cell] as number) + change.ru / stepSec;
  throttled[cell] = (throttled[cell] as number) + change.throttled / stepSec;
  served[cell] = (served[cell] as number) + change.served / stepSec;
  bytes[cell] = change.bytes ?? known;
}

function reported(
  id: string,
  series: PartitionSeries,
  window: WindowName,
  lastStep: number,
): ReportedSeries {
  const { stepSec, points } = WINDOWS[window];
  const rings = series.rings[window];
  const first = Math.floor(series.firstSec / stepSec);
  const last = Math.floor(series.lastSec / stepSec);
  const values = (ring: Float32Array): (number | null)[] =>
    Array.from({ length: points }, (_, at) => {
      const step = lastStep - points + 1 + at;
      if (step < first || step > last || last - step >= points) return null;
      return roundTo(ring[step % points] as number, 1);
    });
  return {
    id,
    ru: values(rings.ru),
    throttled: values(rings.throttled),
    served: values(rings.served),
    bytes: values(rings.bytes),
  };
}
