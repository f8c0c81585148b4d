/**
 * The ranges in which a query runs: the partition key, partition or part of the hash space that its headers name, or
 * else all partitions that can hold a match.
 */
import { DomainError } from '../../../base/index.ts';
import type { ContainerRecord, PartitionRecord } from '../../../catalog/index.ts';
import {
  ANYTHING,
  allOf,
  type Condition,
  equalTo,
  type HashRange,
  isWholeInKey,
  term,
} from '../../../query/index.ts';
import type { Service } from '../../../service/index.ts';
import {
  epkRangeOfPrefix,
  epkToHex,
  type PartitionKeyDefinition,
  type Value,
} from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { RequestError } from '../errors.ts';
import { feedPartitionKey, type KeyValues } from '../items/partition-key-header.ts';
import { type EpkRange, epkRanges, type KeyRange } from '../sql/index.ts';

export interface QueryTargets {
  /** In order, without overlaps. */
  readonly ranges: readonly HashRange[];
  /** The condition that the headers add to the filter. */
  readonly condition: Condition;
  /** True where the condition matches exactly the items in the ranges. */
  readonly isExact: boolean;
  /** True where headers name the ranges, and the filter was not analysed. */
  readonly isFromHeaders: boolean;
}

/** @param keyRanges - of the partition keys that can match, computed only where no header decides. */
export function queryTargets(
  call: Call,
  view: ContainerView,
  keyRanges: () => readonly KeyRange[],
): QueryTargets {
  const values = feedPartitionKey(call, view);
  if (values !== undefined)
    return {
      ranges: [keyRangeOf(call.service, values, view.record)],
      condition: keyCondition(values, view),
      isExact: values.every(isWholeInKey),
      isFromHeaders: true,
    };
  const part = hashRangeHeaders(call);
  const range = call.header('x-ms-documentdb-partitionkeyrangeid');
  if (range !== undefined) {
    const whole = call.service.queries.rangeOf(view.record, rangeIdOf(range, view));
    const ranges = part === undefined ? [whole] : intersection(whole, part);
    return { ranges, condition: ANYTHING, isExact: false, isFromHeaders: true };
  }
  if (part !== undefined)
    return { ranges: [part], condition: ANYTHING, isExact: false, isFromHeaders: true };
  return {
    ranges: partitionsOf(view.record, keyRanges()),
    condition: ANYTHING,
    isExact: false,
    isFromHeaders: false,
  };
}

/** True where at most one partition key can match: a prefix of a hierarchical one is many. */
export function isOneKey(ranges: readonly KeyRange[], { paths }: PartitionKeyDefinition): boolean {
  const [range] = ranges;
  if (ranges.length !== 1 || range === undefined || range.kind === 'all') return false;
  return range.kind === 'none' || range.low.length === paths.length;
}

/** One key, or for the first levels of a hierarchical one everything below. */
export function keyRangeOf(
  service: Pick<Service, 'items'>,
  values: KeyValues,
  record: ContainerRecord,
): HashRange {
  const { partitionKey } = record;
  if (values.length < partitionKey.paths.length) {
    const { min, max } = epkRangeOfPrefix(values, partitionKey);
    return { min: epkToHex(min), max: epkToHex(max) };
  }
  return pointRange(epkToHex(service.items.epkOf(record, values)));
}

/** The appended zero byte makes the next key of the hash space. */
function pointRange(epk: string): HashRange {
  return { min: epk, max: `${epk}00` };
}

/** The key as part of the filter, so that its index is used. A missing value has no index entry. */
export function keyCondition(values: KeyValues, { keyPaths }: ContainerView): Condition {
  const parts = values.flatMap((value: Value, at) => {
    const path = keyPaths[at];
    return value === undefined || path === undefined ? [] : [term(path, [equalTo(value)])];
  });
  return allOf(...parts);
}

/**
 * The partitions that overlap some of the ranges. The filter of the query does the rest: the index finds the keys that
 * the filter names, not their hashes.
 */
export function partitionsOf(
  { partitions, partitionKey }: ContainerRecord,
  ranges: readonly KeyRange[],
): readonly HashRange[] {
  const isEverywhere = ranges.some(({ kind }) => kind === 'all');
  const hashed = isEverywhere ? [] : epkRanges(ranges, partitionKey);
  return partitions
    .filter((partition) => isEverywhere || hashed.some((range) => isTouching(partition, range)))
    .map(({ min, max }) => ({ min, max }));
}

function isTouching(partition: PartitionRecord, range: EpkRange): boolean {
  const startsBefore = range.min < partition.max;
  return (
    startsBefore && (range.isMaxInclusive ? range.max >= partition.min : range.max > partition.min)
  );
}

/** `<id>`, or `<container rid>,<id>`. */
export function rangeIdOf(text: string, view: ContainerView): string {
  const comma = text.indexOf(',');
  if (comma >= 0 && text.slice(0, comma) !== view.rid)
    throw new RequestError(410, 'The container was replaced by another of the same name.', {
      substatus: 1000,
    });
  return text.slice(comma + 1).trim();
}

const EPK_HEX = /^(?:[0-9A-Fa-f]{2}){0,1024}$/;

/** The part [start, end) of the hash space that the headers name. */
export function hashRangeHeaders(call: Call): HashRange | undefined {
  const start = call.header('x-ms-start-epk');
  const end = call.header('x-ms-end-epk');
  if (start === undefined && end === undefined) return undefined;
  const min = (start ?? '').toUpperCase();
  const max = (end ?? 'FF').toUpperCase();
  if (!EPK_HEX.test(min) || !EPK_HEX.test(max) || min >= max)
    throw new DomainError(
      'invalidInput',
      'x-ms-start-epk and x-ms-end-epk must be hexadecimal, the first before the second.',
    );
  return { min, max };
}

function intersection(a: HashRange, b: HashRange): readonly HashRange[] {
  const min = [a.min, b.min].sort()[1] as string;
  const max = [a.max, b.max].sort()[0] as string;
  return min < max ? [{ min, max }] : [];
}
