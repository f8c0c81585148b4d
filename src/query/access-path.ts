/**
 * Chooses the access path: how the candidates of a condition are found in one partition. There are no statistics to
 * estimate with; the first entries of each index range are read instead. An index is used where it names few items;
 * where it names most of them, a scan is faster.
 *
 * Candidates are in rid order on every access path.
 */
import { andThen, type Bytes, concatBytes, isPromise, type MaybePromise } from '../base/index.ts';
import type { KeyRange } from '../engine/index.ts';
import { printPath, TRUNCATED } from '../value/index.ts';
import { commonRids } from './common-rids.ts';
import type { Condition, TermCondition, TextCondition } from './condition/condition.ts';
import type { ValueRange } from './condition/value-ranges.ts';
import type { ExecutionStats } from './execution-stats.ts';
import { PROBE_ENTRIES, PROBE_STEPS, Probe } from './probe.ts';
import type { IndexEntries, ItemReader } from './reader.ts';
import { yieldToEventLoop } from './yield.ts';

export type AccessPath =
  | { readonly kind: 'none' }
  /** Every item. */
  | { readonly kind: 'scan' }
  /** The posting list of one value under one path: it is in rid order and need not be collected. */
  | { readonly kind: 'posting'; readonly prefix: Bytes; readonly text: string }
  /** Rids collected from the index, sorted. */
  | { readonly kind: 'rids'; readonly rids: readonly number[]; readonly text: string };

/** The assumed cost, in entries, of a condition of several parts that names few items. */
const OTHER_ENTRIES = 200;
/** The cost of loading and checking an item, and that of starting one more index read, in entries. */
const ITEM_ENTRIES = 40;
const READ_ENTRIES = 40;
/** Rids collected at most: a condition that names more is answered by a scan. */
const COLLECT_MAX = 50_000;
/** A scan reads neighbours together: fetching one of this many items by rid costs as much as a scan of all. */
const SCAN_SHARE = 3;
const PAGE = { limit: 1000, bytesMax: 1024 * 1024 };
/** A tested page keeps few of its entries, so it may be longer: it takes about two milliseconds. */
const TESTED_PAGE = { limit: 4000, bytesMax: 1024 * 1024 };

export function choosePath(
  reader: ItemReader,
  condition: Condition,
  stats: ExecutionStats,
): MaybePromise<AccessPath> {
  const usable = usablePart(reader, condition);
  if (usable.kind === 'nothing') return { kind: 'none' };
  if (usable.kind === 'anything') return { kind: 'scan' };
  if (usable.kind === 'all') return chooseAmong(reader, usable.of, stats);
  return postingOf(reader, usable) ?? chooseOne(reader, usable, stats);
}

/**
 * As `choosePath`, for rows in an order: the rids of one value are collected as long as sorting their rows can be
 * cheaper than finding enough of them in an index that has the order.
 */
export function chooseForOrder(
  reader: ItemReader,
  condition: Condition,
  wanted: number,
  stats: ExecutionStats,
): MaybePromise<AccessPath> {
  return andThen(choosePath(reader, condition, stats), (access): MaybePromise<AccessPath> => {
    if (access.kind !== 'posting') return access;
    const limit = Math.min(COLLECT_MAX, Math.ceil(Math.sqrt(wanted * reader.itemCount)));
    return collectRange(reader, access.prefix, limit, stats).then((rids) =>
      rids === undefined ? access : { kind: 'rids', rids, text: access.text },
    );
  });
}

/** The rids of the entries of one value, ascending; undefined when there are more than `limit`. */
async function collectRange(
  reader: ItemReader,
  prefix: Bytes,
  limit: number,
  stats: ExecutionStats,
): Promise<readonly number[] | undefined> {
  if (reader.ridsOf !== undefined) {
    const found = reader.ridsOf(prefix, limit, limit);
    const all = isPromise(found) ? await found : found;
    stats.indexEntries += all?.length ?? 0;
    return all && Array.from(all);
  }
  const rids = new Set<number>();
  let range: KeyRange | undefined = { start: prefix, end: concatBytes(prefix, LAST) };
  while (range !== undefined) {
    const found = reader.scanIndex(range, PAGE);
    const page: IndexEntries = isPromise(found) ? await found : found;
    stats.indexEntries += page.entries.length;
    for (const entry of page.entries) rids.add(reader.ridOf(entry));
    if (rids.size > limit) return undefined;
    range = page.rest;
    const rest = range && yieldToEventLoop();
    if (rest !== undefined) await rest;
  }
  return ascending(rids);
}

/** A byte behind every rid: rids begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

/** The condition without the parts that no index serves. */
function usablePart(reader: ItemReader, condition: Condition): Condition {
  switch (condition.kind) {
    case 'term':
      return reader.termsOf(condition.path) === undefined ? { kind: 'anything' } : condition;
    case 'text':
      return reader.hasTextIndex?.(condition.path) === true ? condition : { kind: 'anything' };
    case 'all': {
      const of = condition.of
        .map((part) => usablePart(reader, part))
        .filter(({ kind }) => kind !== 'anything');
      if (of.length === 0) return { kind: 'anything' };
      return of.find(({ kind }) => kind === 'nothing') ?? { kind: 'all', of };
    }
    case 'any': {
      const of = condition.of.map((part) => usablePart(reader, part));
      return of.find(({ kind }) => kind === 'anything') ?? { kind: 'any', of };
    }
    default:
      return condition;
  }
}

/**
 * The access path of a conjunction: its most selective part, and the parts that narrow it further at little cost. All
 * parts are probed in rounds, deeper in each round, so that a selective part is found before a broad one was read.
 * Probing ends once loading the items found so far costs less than another read of an index.
 */
function chooseAmong(
  reader: ItemReader,
  parts: readonly Condition[],
  stats: ExecutionStats,
): MaybePromise<AccessPath> {
  const narrowest = new Narrowest();
  const plain = parts.filter(isPlainTerm);
  const probes = plain.map((part) => new Probe(reader, part, stats));
  const probed = probeInRounds(probes, narrowest, 0, 0);
  if (probed === undefined && plain.length === parts.length)
    return chosenAmong(reader, parts, narrowest, stats);
  return Promise.resolve(probed).then(async () => {
    for (const part of parts) {
      // A test reads all entries of its ranges, and most items have one.
      const least = part.kind === 'term' ? reader.itemCount : OTHER_ENTRIES;
      if (isPlainTerm(part) || narrowest.isCheaperThan(least)) continue;
      const rids = await collect(reader, part, PROBE_ENTRIES, stats);
      if (rids !== undefined) narrowest.add(part, ascending(rids));
    }
    return chosenAmong(reader, parts, narrowest, stats);
  });
}

/** Continues from one probe of one round; undefined where nothing had to be waited for. */
function probeInRounds(
  probes: readonly Probe[],
  narrowest: Narrowest,
  round: number,
  from: number,
): Promise<void> | undefined {
  const limit = PROBE_STEPS[round];
  if (limit === undefined) return undefined;
  for (let at = from; at < probes.length && !narrowest.isCheaperThan(limit); at++) {
    const probe = probes[at] as Probe;
    if (probe.isWhole) continue;
    const isLast = probe.isOneRead && narrowest.rids !== undefined;
    const reading = probe.read(isLast ? PROBE_ENTRIES : limit);
    const note = (): void => {
      if (probe.isWhole) narrowest.add(probe.part, probe.rids());
    };
    if (reading !== undefined)
      return reading.then(() => {
        note();
        return probeInRounds(probes, narrowest, round, at + 1);
      });
    note();
  }
  return probeInRounds(probes, narrowest, round + 1, 0);
}

function chosenAmong(
  reader: ItemReader,
  parts: readonly Condition[],
  { rids, of }: Narrowest,
  stats: ExecutionStats,
): MaybePromise<AccessPath> {
  if (rids !== undefined) return rids.length === 0 ? { kind: 'none' } : asRids(rids, of);
  const large = parts.find((part) => postingOf(reader, part) !== undefined) ?? parts[0];
  return postingOf(reader, large as Condition) ?? chooseOne(reader, large as Condition, stats);
}

/** The items that the parts of a conjunction read so far have in common. */
class Narrowest {
  /** Ascending; undefined before the first part is added. */
  rids: ArrayLike<number> | undefined;
  readonly of: Condition[] = [];

  add(part: Condition, rids: ArrayLike<number>): void {
    this.rids = this.rids === undefined ? rids : commonRids(this.rids, rids);
    this.of.push(part);
  }

  /** True where loading the items costs less than reading so many entries. */
  isCheaperThan(entries: number): boolean {
    return this.rids !== undefined && this.rids.length * ITEM_ENTRIES < entries + READ_ENTRIES;
  }
}

function isPlainTerm(condition: Condition): condition is TermCondition {
  return condition.kind === 'term' && condition.test === undefined;
}

async function chooseOne(
  reader: ItemReader,
  condition: Condition,
  stats: ExecutionStats,
): Promise<AccessPath> {
  const limit = Math.min(COLLECT_MAX, Math.floor(reader.itemCount / SCAN_SHARE) + 10);
  const rids = await collect(reader, condition, limit, stats);
  if (rids === undefined) return { kind: 'scan' };
  return rids.size === 0 ? { kind: 'none' } : asRids(ascending(rids), [condition]);
}

function postingOf(reader: ItemReader, condition: Condition): AccessPath | undefined {
  if (condition.kind !== 'term' || condition.ranges.length !== 1 || condition.test)
    return undefined;
  const range = condition.ranges[0] as ValueRange;
  const terms = reader.termsOf(condition.path);
  if (!range.isPoint || terms === undefined) return undefined;
  return {
    kind: 'posting',
    prefix: concatBytes(terms, range.start),
    text: `index ${printPath(condition.path)} = one value`,
  };
}

function asRids(found: ArrayLike<number>, parts: readonly Condition[]): AccessPath {
  const rids: readonly number[] = Array.isArray(found) ? found : Array.from(found);
  return { kind: 'rids', rids, text: parts.map(describe).join(' and ') };
}

function ascending(rids: ReadonlySet<number>): readonly number[] {
  return [...rids].sort((a, b) => a - b);
}

/** The rids a condition names; undefined where there are more than `limit`. */
async function collect(
  reader: ItemReader,
  condition: Condition,
  limit: number,
  stats: ExecutionStats,
): Promise<Set<number> | undefined> {
  switch (condition.kind) {
    case 'term':
      return collectTerm(reader, condition, limit, stats);
    case 'text':
      return collectTexts(reader, condition, stats);
    case 'any': {
      const union = new Set<number>();
      for (const part of condition.of) {
        const rids = await collect(reader, part, limit - union.size, stats);
        if (rids === undefined) return undefined;
        for (const rid of rids) union.add(rid);
        if (union.size > limit) return undefined;
      }
      return union;
    }
    case 'all': {
      let common: Set<number> | undefined;
      for (const part of condition.of) {
        const rids = await collect(reader, part, limit, stats);
        if (rids !== undefined) common = common === undefined ? rids : intersect(common, rids);
      }
      return common;
    }
    case 'nothing':
      return new Set();
    case 'anything':
      return undefined;
  }
}

async function collectTexts(
  reader: ItemReader,
  { path, phrases, needs }: TextCondition,
  stats: ExecutionStats,
): Promise<Set<number> | undefined> {
  const index = await reader.searchIndex?.({ kind: 'text', path, phrases });
  if (index === undefined) return undefined;
  const rids = new Set(index.containing(needs));
  stats.indexEntries += rids.size;
  return rids.size > COLLECT_MAX ? undefined : rids;
}

async function collectTerm(
  reader: ItemReader,
  { path, ranges, test }: TermCondition,
  limit: number,
  stats: ExecutionStats,
): Promise<Set<number> | undefined> {
  const terms = reader.termsOf(path);
  if (terms === undefined) return undefined;
  const rids = new Set<number>();
  for (const { start, end } of ranges) {
    let range: KeyRange | undefined = {
      start: concatBytes(terms, start),
      end: concatBytes(terms, end),
    };
    while (range !== undefined) {
      const found = reader.scanIndex(range, test === undefined ? PAGE : TESTED_PAGE);
      const page: IndexEntries = isPromise(found) ? await found : found;
      stats.indexEntries += page.entries.length;
      if (test === undefined) for (const entry of page.entries) rids.add(reader.ridOf(entry));
      else addPassing(reader, page.entries, test, rids);
      if (rids.size > limit) return undefined;
      range = page.rest;
      const rest = range && yieldToEventLoop();
      if (rest !== undefined) await rest;
    }
  }
  return rids;
}

/**
 * Adds the rids of entries that pass. Entries of one value are neighbours, so each value is tested once. An entry that
 * does not hold its whole value passes: the query rechecks the item.
 */
function addPassing(
  reader: ItemReader,
  entries: readonly string[],
  test: NonNullable<TermCondition['test']>,
  rids: Set<number>,
): void {
  let last = '';
  let isPassing = false;
  for (const entry of entries) {
    if (!reader.isSameTerm(last, entry)) {
      const value = reader.valueOf(entry);
      isPassing = value === TRUNCATED || test(value);
      last = entry;
    }
    if (isPassing) rids.add(reader.ridOf(entry));
  }
}

function intersect(a: ReadonlySet<number>, b: ReadonlySet<number>): Set<number> {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  return new Set([...small].filter((rid) => large.has(rid)));
}

function describe(condition: Condition): string {
  switch (condition.kind) {
    case 'term':
      return `index ${printPath(condition.path)} in ${condition.ranges.length} range${condition.ranges.length === 1 ? '' : 's'}${condition.test ? ' with a test' : ''}`;
    case 'text':
      return `full text index ${printPath(condition.path)}`;
    case 'any':
      return `(${condition.of.map(describe).join(' or ')})`;
    case 'all':
      return condition.of.map(describe).join(' and ');
    default:
      return condition.kind;
  }
}

/** The access path as explanations print it. */
export function describeAccess(access: AccessPath): string {
  return access.kind === 'rids' || access.kind === 'posting' ? access.text : access.kind;
}
