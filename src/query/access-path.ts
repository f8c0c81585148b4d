/**
 * The way to the candidates of a condition in one partition, chosen by looking: the first entries of each index range
 * tell how many items it names. An index serves where it names few; where it names most, reading in storage order does.
 *
 * Whatever the way, candidates come in rid order.
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
  /** The entries of one value of one path: they are in rid order and need not be collected. */
  | { readonly kind: 'posting'; readonly prefix: Bytes; readonly text: string }
  /** Rids collected from the index, sorted. */
  | { readonly kind: 'rids'; readonly rids: readonly number[]; readonly text: string };

/** What a condition of several parts is taken to cost where it names few items. */
const OTHER_ENTRIES = 200;
/** Loading an item and looking at it costs as much as this many entries; so does a look at any. */
const ITEM_ENTRIES = 40;
const LOOK_ENTRIES = 40;
/** Rids collected at most; a condition that names more is answered by a scan. */
const COLLECT_MAX = 50_000;
/** A scan reads items side by side; fetching this share of them one by one costs as much. */
const SCAN_SHARE = 3;
const PAGE = { limit: 1000, bytesMax: 1024 * 1024 };
/** Few entries of it are kept: two milliseconds. */
const TESTED_PAGE = { limit: 4000, bytesMax: 1024 * 1024 };

export function choosePath(
  reader: ItemReader,
  condition: Condition,
  work: ExecutionStats,
): MaybePromise<AccessPath> {
  const usable = usablePart(reader, condition);
  if (usable.kind === 'nothing') return { kind: 'none' };
  if (usable.kind === 'anything') return { kind: 'scan' };
  if (usable.kind === 'all') return chooseAmong(reader, usable.of, work);
  return postingOf(reader, usable) ?? chooseOne(reader, usable, work);
}

/**
 * The same where rows are wanted in an order: the entries of one value are collected while sorting them can be cheaper
 * than meeting enough of them on the way through an index that has the order.
 */
export function chooseForOrder(
  reader: ItemReader,
  condition: Condition,
  wanted: number,
  work: ExecutionStats,
): MaybePromise<AccessPath> {
  return andThen(choosePath(reader, condition, work), (access): MaybePromise<AccessPath> => {
    if (access.kind !== 'posting') return access;
    const limit = Math.min(COLLECT_MAX, Math.ceil(Math.sqrt(wanted * reader.itemCount)));
    return collectRange(reader, access.prefix, limit, work).then((rids) =>
      rids === undefined ? access : { kind: 'rids', rids, text: access.text },
    );
  });
}

/** The rids of the entries of one value, ascending; undefined when there are more than `limit`. */
async function collectRange(
  reader: ItemReader,
  prefix: Bytes,
  limit: number,
  work: ExecutionStats,
): Promise<readonly number[] | undefined> {
  if (reader.ridsOf !== undefined) {
    const found = reader.ridsOf(prefix, limit, limit);
    const all = isPromise(found) ? await found : found;
    work.indexEntries += all?.length ?? 0;
    return all && Array.from(all);
  }
  const rids = new Set<number>();
  let range: KeyRange | undefined = { start: prefix, end: concatBytes(prefix, LAST) };
  while (range !== undefined) {
    const found = reader.scanIndex(range, PAGE);
    const page: IndexEntries = isPromise(found) ? await found : found;
    work.indexEntries += page.entries.length;
    for (const entry of page.entries) rids.add(reader.ridOf(entry));
    if (rids.size > limit) return undefined;
    range = page.rest;
    const rest = range && yieldToEventLoop();
    if (rest !== undefined) await rest;
  }
  return ascending(rids);
}

/** Behind every rid: they begin with a zero byte. */
const LAST = Uint8Array.of(0xff);

/** The condition without what no index can answer. */
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
 * Of several conditions that must all hold: the narrowest, and with it those that narrow it further cheaply. All are
 * looked at in turns, further each time, so that one that names few items is found before one of many was read; once
 * the items it names cost less than another look, they are looked at instead.
 */
function chooseAmong(
  reader: ItemReader,
  parts: readonly Condition[],
  work: ExecutionStats,
): MaybePromise<AccessPath> {
  const narrowest = new Narrowest();
  const plain = parts.filter(isPlainTerm);
  const probes = plain.map((part) => new Probe(reader, part, work));
  const probed = probeInTurns(probes, narrowest, 0, 0);
  if (probed === undefined && plain.length === parts.length)
    return chosenAmong(reader, parts, narrowest, work);
  return Promise.resolve(probed).then(async () => {
    for (const part of parts) {
      // A test goes through all entries of its ranges, which are mostly those of all items.
      const least = part.kind === 'term' ? reader.itemCount : OTHER_ENTRIES;
      if (isPlainTerm(part) || narrowest.isCheaperThan(least)) continue;
      const rids = await collect(reader, part, PROBE_ENTRIES, work);
      if (rids !== undefined) narrowest.add(part, ascending(rids));
    }
    return chosenAmong(reader, parts, narrowest, work);
  });
}

/** From a place in one of the turns on; undefined where that was at once. */
function probeInTurns(
  probes: readonly Probe[],
  narrowest: Narrowest,
  turn: number,
  from: number,
): Promise<void> | undefined {
  const limit = PROBE_STEPS[turn];
  if (limit === undefined) return undefined;
  for (let at = from; at < probes.length && !narrowest.isCheaperThan(limit); at++) {
    const probe = probes[at] as Probe;
    if (probe.isWhole) continue;
    const isLast = probe.isOneLook && narrowest.rids !== undefined;
    const reading = probe.read(isLast ? PROBE_ENTRIES : limit);
    const note = (): void => {
      if (probe.isWhole) narrowest.add(probe.part, probe.rids());
    };
    if (reading !== undefined)
      return reading.then(() => {
        note();
        return probeInTurns(probes, narrowest, turn, at + 1);
      });
    note();
  }
  return probeInTurns(probes, narrowest, turn + 1, 0);
}

function chosenAmong(
  reader: ItemReader,
  parts: readonly Condition[],
  { rids, of }: Narrowest,
  work: ExecutionStats,
): MaybePromise<AccessPath> {
  if (rids !== undefined) return rids.length === 0 ? { kind: 'none' } : asRids(rids, of);
  const large = parts.find((part) => postingOf(reader, part) !== undefined) ?? parts[0];
  return postingOf(reader, large as Condition) ?? chooseOne(reader, large as Condition, work);
}

/** What is known of a conjunction so far. */
class Narrowest {
  /** Ascending. */
  rids: ArrayLike<number> | undefined;
  readonly of: Condition[] = [];

  add(part: Condition, rids: ArrayLike<number>): void {
    this.rids = this.rids === undefined ? rids : commonRids(this.rids, rids);
    this.of.push(part);
  }

  /** True where loading the items costs less than looking at so many entries. */
  isCheaperThan(entries: number): boolean {
    return this.rids !== undefined && this.rids.length * ITEM_ENTRIES < entries + LOOK_ENTRIES;
  }
}

function isPlainTerm(condition: Condition): condition is TermCondition {
  return condition.kind === 'term' && condition.test === undefined;
}

async function chooseOne(
  reader: ItemReader,
  condition: Condition,
  work: ExecutionStats,
): Promise<AccessPath> {
  const limit = Math.min(COLLECT_MAX, Math.floor(reader.itemCount / SCAN_SHARE) + 10);
  const rids = await collect(reader, condition, limit, work);
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

/** The rids a condition names; undefined when it looked at more than `limit` entries. */
async function collect(
  reader: ItemReader,
  condition: Condition,
  limit: number,
  work: ExecutionStats,
): Promise<Set<number> | undefined> {
  switch (condition.kind) {
    case 'term':
      return collectTerm(reader, condition, limit, work);
    case 'text':
      return collectTexts(reader, condition, work);
    case 'any': {
      const union = new Set<number>();
      for (const part of condition.of) {
        const rids = await collect(reader, part, limit - union.size, work);
        if (rids === undefined) return undefined;
        for (const rid of rids) union.add(rid);
        if (union.size > limit) return undefined;
      }
      return union;
    }
    case 'all': {
      let common: Set<number> | undefined;
      for (const part of condition.of) {
        const rids = await collect(reader, part, limit, work);
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
  work: ExecutionStats,
): Promise<Set<number> | undefined> {
  const index = await reader.searchIndex?.({ kind: 'text', path, phrases });
  if (index === undefined) return undefined;
  const rids = new Set(index.containing(needs));
  work.indexEntries += rids.size;
  return rids.size > COLLECT_MAX ? undefined : rids;
}

async function collectTerm(
  reader: ItemReader,
  { path, ranges, test }: TermCondition,
  limit: number,
  work: ExecutionStats,
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
      work.indexEntries += page.entries.length;
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
 * Entries of one value stand together: it is tested once. Arrays, objects and texts cut short are not whole in an entry:
 * the item itself must tell.
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

/** As explanations name it. */
export function describeAccess(access: AccessPath): string {
  return access.kind === 'rids' || access.kind === 'posting' ? access.text : access.kind;
}
