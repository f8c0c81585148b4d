/**
 * /dbs/{id}/colls/{id}/pkranges: the live partitions as clients see them. They tile the hash space from "" to "FF"
 * exactly; clients with an older list find the new owners by `parents`.
 */
import { type PartitionRecord, rangeRid } from '../../../catalog/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { type Envelope, queriedReply, rowsBody } from '../feed.ts';
import type { Reply } from '../reply.ts';
import { notModified } from '../reply.ts';
import { isNotModified, isQuery } from '../request.ts';

export function listPartitionKeyRanges(call: Call): Reply {
  const view = call.ownerContainer();
  const etag = `"${view.record.routingVersion}"`;
  if (isNotModified(call, etag)) return notModified(etag, [...view.scopeHeaders]);
  const rows = rangesOf(view).map((range) => JSON.stringify(range));
  return {
    status: 200,
    charge: 1,
    headers: [...view.scopeHeaders, 'etag', etag, 'x-ms-item-count', String(rows.length)],
    body: rowsBody(envelopeOf(view), rows),
  };
}

/** POST is a query: clients do not create ranges. */
export function postPartitionKeyRanges(call: Call): Reply {
  if (!isQuery(call)) return listPartitionKeyRanges(call);
  const view = call.ownerContainer();
  const reply = queriedReply(call, envelopeOf(view), rangesOf(view));
  reply.headers.push(...view.scopeHeaders);
  return reply;
}

function envelopeOf({ rid }: ContainerView): Envelope {
  return { rid, key: 'PartitionKeyRanges' };
}

function rangesOf(view: ContainerView): readonly object[] {
  return view.record.partitions.map((range) => rangeResource(view, range));
}

function rangeResource({ record, self }: ContainerView, partition: PartitionRecord): object {
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
