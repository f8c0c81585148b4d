/**
 * Counters, gauges and histograms, printed in the Prometheus text format. The hot path keeps a counter object: labels
 * are resolved once, and an increment is one addition. Nothing here knows what is counted.
 */
import { assert } from './assert.ts';

interface MetricFamily {
  readonly name: string;
  /** One sentence for the reader of the numbers. */
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A counter only grows. */
export class Counter {
  value = 0;

  add(amount: number): void {
    this.value += amount;
  }
}

/** A gauge is the value of the current moment. */
class Gauge {
  value = 0;

  set(value: number): void {
    this.value = value;
  }
}

export class Histogram {
  /** Observations per bucket, not cumulative. The last one counts all above the highest bound. */
  readonly counts: number[];
  readonly bounds: readonly number[];
  sum = 0;

  /** `bounds` are inclusive upper bounds, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.sum += value;
  }
}

type Kind = 'counter' | 'gauge' | 'histogram';

/** All series of one name. A series lives as long as its family, so label values must come from small sets. */
export class Series<T> {
  readonly family: MetricFamily;
  readonly kind: Kind;
  readonly #make: () => T;
  readonly #members = new Map<string, T>();

  constructor(family: MetricFamily, kind: Kind, make: () => T) {
    this.family = family;
    this.kind = kind;
    this.#make = make;
  }

  /**
   * The series with these label values, in the order of the family's labels. Callers keep it; the lookup is not for
   * every event.
   */
  with(...values: readonly string[]): T {
    const { labels = [] } = this.family;
    assert(values.length === labels.length, 'metrics: one value per label');
    const key = labels.map((label, at) => `${label}="${escapeLabel(values[at] ?? '')}"`).join(',');
    let member = this.#members.get(key);
    if (member === undefined) {
      member = this.#make();
      this.#members.set(key, member);
    }
    return member;
  }

  /** Removes all series: for gauges that are set again at every scrape. */
  clear(): void {
    this.#members.clear();
  }

  members(): IterableIterator<[string, T]> {
    return this.#members.entries();
  }
}

/** All metrics of one process. */
export class Metrics {
  readonly #series: Series<Counter | Gauge | Histogram>[] = [];
  readonly #collectors: (() => void)[] = [];

  counter(family: MetricFamily): Series<Counter> {
    return this.#add(new Series(family, 'counter', () => new Counter()));
  }

  gauge(family: MetricFamily): Series<Gauge> {
    return this.#add(new Series(family, 'gauge', () => new Gauge()));
  }

  histogram(family: MetricFamily, bounds: readonly number[]): Series<Histogram> {
    return this.#add(new Series(family, 'histogram', () => new Histogram(bounds)));
  }

  /** Runs before every print, for gauges that are cheaper to compute than to keep up to date. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** Prometheus text format 0.0.4. */
  print(): string {
    for (const collect of this.#collectors) collect();
    const lines: string[] = [];
    for (const { family, kind, members } of this.#series.map(printable)) {
      lines.push(`# HELP ${family.name} ${escapeHelp(family.help)}`);
      lines.push(`# TYPE ${family.name} ${kind}`);
      for (const [labels, member] of members)
        if (member instanceof Histogram) printHistogram(lines, family.name, labels, member);
        else lines.push(`${family.name}${braces(labels)} ${member.value}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #add<T extends Counter | Gauge | Histogram>(series: Series<T>): Series<T> {
    assert(
      this.#series.every(({ family }) => family.name !== series.family.name),
      'metrics: one family per name',
    );
    this.#series.push(series);
    return series;
  }
}

function printable(series: Series<Counter | Gauge | Histogram>) {
  return { family: series.family, kind: series.kind, members: series.members() };
}

function printHistogram(lines: string[], name: string, labels: string, histogram: Histogram): void {
  const prefix = labels === '' ? '' : `${labels},`;
  let count = 0;
  histogram.counts.forEach((inBucket, at) => {
    count += inBucket;
    lines.push(`${name}_bucket{${prefix}le="${histogram.bounds[at] ?? '+Inf'}"} ${count}`);
  });
  lines.push(`${name}_sum${braces(labels)} ${histogram.sum}`);
  lines.push(`${name}_count${braces(labels)} ${count}`);
}

function braces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
