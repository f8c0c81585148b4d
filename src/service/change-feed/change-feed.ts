/**
 * The change feed of a container, of a partition, of a part of the hash space or of a key: what was written since a
 * position, in the order of the writes of every key. A position names parts of the hash space with an LSN each, never
 * partitions, so that it stays valid when partitions split or merge: their children keep the LSNs of what they hold.
 */
import {
  type Bytes,
  compareBytes,
  DomainError,
  type ResponseInfo,
  type SessionToken,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import {
  type ChangesReply,
  type Cluster,
  type FeedStart,
  type Route,
  readPartitionChanges,
} from '../../cluster/index.ts';
import type { EpkRange, FeedChange, FeedMode, Lsn } from '../../partition/index.ts';
import { outsideRetention } from '../../partition/index.ts';
import { MINIMAL_CHARGE, type RequestClass } from '../../throughput/index.ts';
import { type FeedScope, intersect, rangeOfScope } from '../items/scope-range.ts';

export type ChangeFeedStart =
  | Exclude<FeedStart, { kind: 'after' }>
  /** Where the last page ended. */
  | { readonly kind: 'position'; readonly position: ChangeFeedPosition };

/** A part of the hash space, [min, max), with the LSN up to which it was read, or where to begin. */
export interface ChangeFeedSegment extends EpkRange {
  readonly start: FeedStart;
}

/** In the order in which they are read next: a segment that had changes moves to the end. */
export type ChangeFeedPosition = readonly ChangeFeedSegment[];

interface ChangeFeedRequest {
  readonly scope: FeedScope;
  readonly mode: FeedMode;
  readonly start: ChangeFeedStart;
  readonly limit: number;
  readonly bytesMax: number;
  readonly sessionToken?: SessionToken | undefined;
  readonly requestClass?: RequestClass | undefined;
}

export interface ChangeFeedPage extends ResponseInfo {
  readonly changes: readonly FeedChange[];
  readonly position: ChangeFeedPosition;
  /** False where the end of the feed was reached: there is nothing to read until the next write. */
  readonly more: boolean;
}

export class ChangeFeed {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Returns the changes of one partition. The positions of partitions before it, which had none, advance too. */
  read(container: ContainerRecord, request: ChangeFeedRequest): Promise<ChangeFeedPage> {
    if (request.mode === 'all') checkVersions(container, request.start);
    const attempt = (current: ContainerRecord) => this.#read(current, request);
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  async #read(container: ContainerRecord, request: ChangeFeedRequest): Promise<ChangeFeedPage> {
    const { range, prefix } = rangeOfScope(
      this.#cluster.routing(container),
      container,
      request.scope,
    );
    const waiting: ChangeFeedSegment[] = [...segmentsOf(request.start, range)];
    const idle: ChangeFeedSegment[] = [];
    let info: ResponseInfo | undefined;
    let charge = 0;
    for (let segment = waiting.shift(); segment !== undefined; segment = waiting.shift()) {
      const routes = this.#cluster.routing(container).forRange(segment.min, segment.max);
      const [route, ...others] = routes as [Route, ...Route[]];
      const here = intersect(segment, route);
      if (others.length > 0) waiting.unshift({ ...segment, min: here.max });
      const { slice, ...reply } = await this.#readPart(
        route,
        { ...segment, ...here },
        prefix,
        request,
      );
      info ??= reply;
      charge += reply.charge;
      const read: ChangeFeedSegment = { ...here, start: { kind: 'after', lsn: slice.upTo } };
      if (slice.changes.length === 0 && !slice.more) {
        idle.push(read);
        continue;
      }
      const position = mergeNeighbours([...waiting, ...idle, read]);
      return { ...reply, charge, changes: slice.changes, position, more: true };
    }
    if (info === undefined) throw invalidPosition();
    // A poll that finds nothing costs the same for one partition and for many.
    const paid = idle.length > 1 ? MINIMAL_CHARGE : charge;
    return { ...info, charge: paid, changes: [], position: mergeNeighbours(idle), more: false };
  }

  #readPart(
    route: Route,
    segment: ChangeFeedSegment,
    prefix: Bytes | undefined,
    request: ChangeFeedRequest,
  ): Promise<ChangesReply> {
    const { mode, limit, bytesMax, sessionToken, requestClass } = request;
    const isWhole =
      compareBytes(segment.min, route.min) === 0 && compareBytes(segment.max, route.max) === 0;
    const within = prefix ?? (isWhole ? undefined : { min: segment.min, max: segment.max });
    const changes = { mode, start: segment.start, within, limit, bytesMax };
    return readPartitionChanges(this.#cluster, route, changes, sessionToken, requestClass);
  }
}

/** The LSN of a position that covers its scope in one piece; undefined where it takes several. */
export function onlyLsn(position: ChangeFeedPosition): Lsn | undefined {
  const [first, ...others] = position;
  if (others.length > 0) return undefined;
  return first?.start.kind === 'after' ? first.start.lsn : undefined;
}

/** Versions are kept for a time only: a feed of all versions cannot begin at the beginning. */
function checkVersions({ versionRetentionSec }: ContainerRecord, start: ChangeFeedStart): void {
  if (versionRetentionSec === undefined)
    throw new DomainError(
      'invalidInput',
      'The container does not keep all versions of its items: it has no changeFeedPolicy with a retentionDuration.',
    );
  if (start.kind === 'beginning') throw outsideRetention();
}

function segmentsOf(start: ChangeFeedStart, range: EpkRange): ChangeFeedPosition {
  if (start.kind !== 'position') return [{ ...range, start }];
  const parts = start.position.flatMap((segment): readonly ChangeFeedSegment[] => {
    const { min, max } = intersect(segment, range);
    return compareBytes(min, max) < 0 ? [{ min, max, start: segment.start }] : [];
  });
  if (parts.length === 0) throw invalidPosition();
  return parts;
}

/** Neighbours that were read up to the same LSN become one. */
function mergeNeighbours(segments: readonly ChangeFeedSegment[]): ChangeFeedPosition {
  const list: ChangeFeedSegment[] = [];
  for (const segment of segments) {
    const last = list.at(-1);
    const isNext =
      last !== undefined &&
      compareBytes(last.max, segment.min) === 0 &&
      last.start.kind === 'after' &&
      segment.start.kind === 'after' &&
      last.start.lsn === segment.start.lsn;
    if (isNext) list[list.length - 1] = { ...segment, min: last.min };
    else list.push(segment);
  }
  return list;
}

function invalidPosition(): DomainError {
  return new DomainError('invalidInput', 'Invalid Continuation Token');
}
