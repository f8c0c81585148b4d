/**
 * Chooses the access path: how the candidates of a condition are found in one partition. There are no statistics to
 * estimate with; the first entries of each index range are read instead. An index is used where it names few items;
 * where it names most of them, a scan is faster.
 *
 * Candidates are in rid order on every access path.
 */
import { andThen, type Bytes, concatBytes, type MaybePromise } from '../../base/index.ts';
import { printPath } from '../../value/index.ts';
import type { Condition, TermCondition } from '../condition/condition.ts';
import { limitsOf } from '../condition/limits.ts';
import type { ValueRange } from '../condition/value-ranges.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { DeclaredRanges, ItemReader } from '../reader.ts';
import {
  ascending,
  COLLECT_MAX,
  collect,
  collectedMax,
  collectKeys,
  collectRange,
  collectRanges,
  pointsOf,
} from './collect-rids.ts';
import { commonRids } from './common-rids.ts';
import { PROBE_ENTRIES, PROBE_STEPS, Probe } from './probe.ts';

export type AccessPath =
  | { readonly kind: 'none' }
  /** Every item. */
  | { readonly kind: 'scan' }
  /** The posting list of one value under one path: it is in rid order and need not be collected. */
  | { readonly kind: 'posting'; readonly prefix: Bytes; readonly text: string }
  /** The posting lists of several values under one path, too long to be collected; merged in rid order. */
  | { readonly kind: 'postings'; readonly prefixes: readonly Bytes[]; readonly text: string }
  /** Rids collected from the index, sorted. */
  | { readonly kind: 'rids'; readonly rids: readonly number[]; readonly text: string };

/** The assumed cost, in entries, of a condition of several parts that names few items. */
const OTHER_ENTRIES = 200;
/** The cost of loading and checking an item, and that of starting one more index read, in entries. */
const ITEM_ENTRIES = 40;
const READ_ENTRIES = 40;
/** Posting lists merged at once: each has a position of its own. */
const MERGED_MAX = 200;

export function choosePath(
  reader: ItemReader,
  condition: Condition,
  stats: ExecutionStats,
  declaredMax = collectedMax(reader),
): MaybePromise<AccessPath> {
  const usable = usablePart(reader, condition);
  if (usable.kind === 'nothing') return { kind: 'none' };
  const declared = reader.declaredWithin?.(limitsOf(condition));
  // One part says no more than the terms of its path.
  const isNeeded = declared !== undefined && (declared.partCount > 1 || usable.kind === 'anything');
  if (!isNeeded) {
    const chosen = chooseTerms(reader, usable, stats);
    if (declared === undefined) return chosen;
    // Terms that name most items leave it to the other index.
    return andThen(chosen, (access) =>
      access.kind === 'scan' ? chooseDeclared(reader, declared, declaredMax, stats) : access,
    );
  }
  return chooseDeclared(reader, declared, declaredMax, stats).then((access) =>
    access.kind === 'scan' ? chooseTerms(reader, usable, stats) : access,
  );
}

/** A scan where the index names too many items. */
async function chooseDeclared(
  reader: ItemReader,
  { ranges, text }: DeclaredRanges,
  declaredMax: number,
  stats: ExecutionStats,
): Promise<AccessPath> {
  const rids = await collectRanges(reader, ranges, declaredMax, stats);
  if (rids === undefined) return { kind: 'scan' };
  return rids.length === 0 ? { kind: 'none' } : { kind: 'rids', rids, text };
}

function chooseTerms(
  reader: ItemReader,
  usable: Condition,
  stats: ExecutionStats,
): MaybePromise<AccessPath> {
  if (usable.kind === 'anything') return scanOrKeys(reader, stats);
  if (usable.kind === 'all') return chooseAmong(reader, usable.of, stats);
  return postingOf(reader, usable) ?? chooseOne(reader, usable, stats);
}

/** Every item; where the reader covers one partition key and it has not too many, the items of its keys. */
function scanOrKeys(reader: ItemReader, stats: ExecutionStats): MaybePromise<AccessPath> {
  const found = reader.ridsOfKey?.(undefined);
  if (found === undefined) return { kind: 'scan' };
  return collectKeys(reader, found, stats).then((rids): AccessPath => {
    if (rids === undefined) return { kind: 'scan' };
    return rids.length === 0 ? { kind: 'none' } : { kind: 'rids', rids, text: 'one partition key' };
  });
}

/**
 * As `choosePath`, for rows in an order: the rids of one value are collected as long as sorting their rows can be
 * cheaper than finding enough of them in an index that has the order.
 * @param hasOrder - such an index exists, so that no more rids of a declared index are collected either.
 */
export function chooseForOrder(
  reader: ItemReader,
  condition: Condition,
  { wanted, hasOrder }: { readonly wanted: number; readonly hasOrder: boolean },
  stats: ExecutionStats,
): MaybePromise<AccessPath> {
  const limit = Math.min(COLLECT_MAX, Math.ceil(Math.sqrt(wanted * reader.itemCount)));
  const declaredMax = hasOrder ? Math.min(limit, collectedMax(reader)) : collectedMax(reader);
  const path = choosePath(reader, condition, stats, declaredMax);
  return andThen(path, (access): MaybePromise<AccessPath> => {
    if (access.kind !== 'posting') return access;
    return collectRange(reader, access.prefix, limit, stats).then((rids) =>
      rids === undefined ? access : { kind: 'rids', rids, text: access.text },
    );
  });
}

/** The condition without the parts that no index serves. */
function usablePart(reader: ItemReader, condition: Condition): Condition {
  switch (condition.kind) {
    case 'term':
      return reader.termsOf(condition.path) === undefined ? { kind: 'anything' } : condition;
    case 'text':
      return reader.hasTextIndex?.(condition.path) === true ? condition : { kind: 'anything' };
    case 'declared':
      return { kind: 'anything' };
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
  const limit = collectedMax(reader);
  const rids = await collect(reader, condition, limit, stats);
  if (rids === undefined)
    return (limit === COLLECT_MAX ? postingsOf(reader, condition) : undefined) ?? { kind: 'scan' };
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

/** The posting lists of a term with few values. */
function postingsOf(reader: ItemReader, condition: Condition): AccessPath | undefined {
  if (condition.kind !== 'term' || condition.ranges.length > MERGED_MAX) return undefined;
  const prefixes = pointsOf(reader, condition);
  return prefixes && { kind: 'postings', prefixes, text: describe(condition) };
}

function asRids(found: ArrayLike<number>, parts: readonly Condition[]): AccessPath {
  const rids: readonly number[] = Array.isArray(found) ? found : Array.from(found);
  return { kind: 'rids', rids, text: parts.map(describe).join(' and ') };
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
  return 'text' in access ? access.text : access.kind;
}
