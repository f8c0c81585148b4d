/** The change feed of one partition: where to begin, what was written since, what it costs. */
import { type Bytes, DomainError, type ResponseInfo, type SessionToken } from '../../base/index.ts';
import type { EpkRange, FeedMode, FeedSlice, Lsn, Partition } from '../../partition/index.ts';
import { feedCharge, NORMAL_CLASS, type RequestClass } from '../../throughput/index.ts';
import type { Cluster } from '../cluster.ts';
import { keyOfScope } from '../reply.ts';
import type { Route } from '../routing/routing-map.ts';

/** The beginning of a feed: everything, behind an LSN, the next write, or a time. */
export type FeedStart =
  | { readonly kind: 'beginning' }
  | { readonly kind: 'after'; readonly lsn: Lsn }
  | { readonly kind: 'now' }
  | { readonly kind: 'time'; readonly sinceSec: number };

interface ChangesRequest {
  readonly mode: FeedMode;
  readonly start: FeedStart;
  /** A part of the hash space, or a prefix of primary keys; undefined for the whole partition. */
  readonly within: EpkRange | Bytes | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

export interface ChangesReply extends ResponseInfo {
  readonly slice: FeedSlice;
}

export async function readPartitionChanges(
  cluster: Cluster,
  route: Route,
  request: ChangesRequest,
  session: SessionToken | undefined,
  requestClass: RequestClass = NORMAL_CLASS,
): Promise<ChangesReply> {
  const { mode, start, within, limit, bytesMax } = request;
  const { found, ...info } = await cluster.visit(
    route,
    session,
    requestClass,
    async (partition) => {
      const after = await lsnOf(partition, route, mode, start);
      const sinceSec = start.kind === 'time' ? start.sinceSec : undefined;
      const slice = await partition.changes.feed({
        mode,
        after,
        limit,
        bytesMax,
        within,
        sinceSec,
      });
      const bytes = bytesOf(slice);
      const charge = feedCharge(slice.changes.length, bytes, requestClass.readFactor);
      return { found: slice, charge, bytes, key: keyOfScope(request) };
    },
  );
  return { slice: found, ...info };
}

async function lsnOf(
  partition: Partition,
  { partition: { orderedFromLsn = 0 } }: Route,
  mode: FeedMode,
  start: FeedStart,
): Promise<Lsn> {
  switch (start.kind) {
    case 'beginning':
      return 0;
    case 'now':
      return partition.lsn;
    case 'time':
      return partition.changes.before({
        mode,
        sinceSec: start.sinceSec,
        orderedFrom: orderedFromLsn,
      });
    case 'after':
      if (start.lsn > partition.lsn)
        throw new DomainError(
          'invalidInput',
          'The continuation names a later state than the container has.',
        );
      return start.lsn;
  }
}

function bytesOf({ changes }: FeedSlice): number {
  let bytes = 0;
  for (const change of changes)
    if (change.kind === 'write') bytes += change.item.body.length;
    else if (change.kind === 'version') bytes += change.version.item.body.length;
  return bytes;
}
