/** /dbs/{id}/colls and /dbs/{id}/colls/{id}. */
import { DomainError } from '../../../base/index.ts';
import { databaseRid } from '../../../catalog/index.ts';
import { type Call, resourceNotFound } from '../call.ts';
import { containerResource } from '../containers/container-resource.ts';
import { containerSpec, containerUpdate } from '../containers/container-spec.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { throughputSetting, wantsMinuteReserve } from '../containers/throughput-header.ts';
import { listReply } from '../feed.ts';
import { parseJsonObject } from '../items/json-body.ts';
import { emptyReply, jsonReply, notModified, type Reply } from '../reply.ts';
import { ifMatch, isNotModified, isPartitionKeyOptional, isQuery } from '../request.ts';

/** Writes to the catalog cost what a small item costs. */
const WRITE_CHARGE = 4.95;

export function listContainers(call: Call): Reply {
  const database = call.ownerDatabase();
  const envelope = { rid: databaseRid(database.rid), key: 'DocumentCollections' };
  return listReply(call, envelope, call.service.containers.list(database), containerResource);
}

export function postContainers(call: Call): Reply | Promise<Reply> {
  return isQuery(call) ? listContainers(call) : createContainer(call);
}

async function createContainer(call: Call): Promise<Reply> {
  const database = call.ownerDatabase();
  const spec = containerSpec(parseJsonObject(call.body), {
    isKeyOptional: isPartitionKeyOptional(call),
    throughput: throughputSetting(call),
    hasMinuteReserve: wantsMinuteReserve(call),
  });
  if (
    spec.partitionKey === undefined &&
    spec.throughput === undefined &&
    database.throughput !== undefined
  )
    throw new DomainError(
      'invalidInput',
      'Containers that share the throughput of their database must have a partition key.',
    );
  const record = await call.service.containers.create(database.rid, spec);
  return writtenReply(201, call.viewOf(database, record));
}

export async function readContainer(call: Call): Promise<Reply> {
  const view = call.findContainer();
  if (view === undefined) throw resourceNotFound();
  const { etag } = view.record;
  if (isNotModified(call, etag)) return notModified(etag, [...view.ownHeaders]);
  const headers = [
    ...view.ownHeaders,
    'etag',
    etag,
    'x-ms-documentdb-collection-index-transformation-progress',
    String(await call.service.queries.indexProgress(view.record)),
  ];
  const wantsQuota = call.isHeaderTrue('x-ms-documentdb-populatequotainfo');
  const wantsStatistics = call.isHeaderTrue('x-ms-documentdb-populatepartitionstatistics');
  const resource = containerResource(view.record);
  if (!wantsQuota && !wantsStatistics) return jsonReply(200, resource, { headers });
  const statistics = await partitionStatistics(call, view);
  if (wantsQuota) headers.push(...quotaHeaders(call, statistics));
  return jsonReply(200, wantsStatistics ? { ...resource, statistics } : resource, { headers });
}

interface RangeStatistics {
  readonly id: string;
  readonly sizeInKB: number;
  readonly documentCount: number;
  /** The largest keys of the range; always empty here. */
  readonly partitionKeys: readonly [];
}

/** One entry per range. */
function partitionStatistics(call: Call, view: ContainerView): Promise<RangeStatistics[]> {
  const { containers } = call.service;
  return containers.inspect(view.record, (routes) =>
    Promise.all(
      routes.map(async (route) => {
        const { itemBytes, itemCount } = await containers.statistics(route);
        return {
          id: route.partition.id,
          sizeInKB: Math.ceil(itemBytes / 1024),
          documentCount: itemCount,
          partitionKeys: [],
        };
      }),
    ),
  );
}

/** Usage against quota in kilobytes, as lists of `name=value;`. */
function quotaHeaders({ service }: Call, statistics: readonly RangeStatistics[]): string[] {
  let usedKb = 0;
  let count = 0;
  for (const { sizeInKB, documentCount } of statistics) {
    usedKb += sizeInKB;
    count += documentCount;
  }
  const quotaKb = Math.floor(service.settings.partitionStorageLimit / 1024);
  return [
    'x-ms-resource-quota',
    `documentSize=10240;documentsSize=${quotaKb};documentsCount=-1;collectionSize=${quotaKb};`,
    'x-ms-resource-usage',
    `documentSize=0;documentsSize=${usedKb};documentsCount=${count};collectionSize=${usedKb};`,
  ];
}

export async function replaceContainer(call: Call): Promise<Reply> {
  const view = call.findContainer();
  if (view === undefined) throw resourceNotFound();
  const update = containerUpdate(parseJsonObject(call.body), view.record);
  const record = await call.service.containers.replace(view.record, update, ifMatch(call));
  return writtenReply(200, call.viewOf(view.database, record));
}

export async function deleteContainer(call: Call): Promise<Reply> {
  const view = call.findContainer();
  if (view === undefined) throw resourceNotFound();
  await call.service.containers.delete(view.record, ifMatch(call));
  return emptyReply(204, { charge: WRITE_CHARGE, headers: [...view.ownHeaders] });
}

function writtenReply(status: number, view: ContainerView): Reply {
  return jsonReply(status, containerResource(view.record), {
    charge: WRITE_CHARGE,
    headers: [...view.ownHeaders, 'etag', view.record.etag],
  });
}
