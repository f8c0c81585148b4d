/**
 * /dbs/{id}/colls/{id}/pkranges: the live partitions as clients see them. They tile the hash space from "" to "FF"
 * exactly; clients that hold an older list find the new owners by `parents`.
 */
import { type PartitionRecord, rangeRid } from '../../../catalog/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { feedBody } from '../feed.ts';
import { isNotModified, notModified } from '../preconditions.ts';
import type { Reply } from '../reply.ts';

export function listPartitionKeyRanges(call: Call): Reply {
  const face = call.ownerContainer();
  const etag = `"${face.record.routingVersion}"`;
  if (isNotModified(call, etag)) return notModified(etag, [...face.scopeHeaders]);
  const { partitions } = face.record;
  const bodies = partitions.map((range) => Buffer.from(JSON.stringify(rangeResource(face, range))));
  return {
    status: 200,
    charge: 1,
    headers: [...face.scopeHeaders, 'etag', etag, 'x-ms-item-count', String(bodies.length)],
    body: feedBody({ rid: face.rid, key: 'PartitionKeyRanges' }, bodies),
  };
}

function rangeResource({ record, self }: ContainerFace, partition: PartitionRecord): object {
  const rid = rangeRid(record.databaseRid, record.rid, Number(partition.id));
  return {
    _rid: rid,
    id: partition.id,
    _etag: `"${record.routingVersion}"`,
    minInclusive: partition.min,
    maxExclusive: partition.max,
    ridPrefix: partition.ridPrefix,
    _self: `${self}pkranges/${rid}/`,
    throughputFraction: partition.throughputFraction,
    status: 'online',
    parents: partition.parents,
    ownedArchivalPKRangeIds: [],
    _ts: partition.timestampSec,
    lsn: record.routingVersion,
  };
}
