/** The JSON resource of a container. */
import { type ContainerRecord, containerRid, type UniqueKey } from '../../../catalog/index.ts';
import type { PartitionKeyDefinition, ValueMap } from '../../../value/index.ts';
import type { ListedResource } from '../feed.ts';
import { containerSelf } from './container-view.ts';
import { globalIndexResource } from './global-index-definition.ts';

interface ContainerResource extends ListedResource {
  readonly [name: string]: unknown;
}

export function containerResource(record: ContainerRecord): ContainerResource {
  return {
    id: record.id,
    indexingPolicy: record.indexingPolicy,
    partitionKey: partitionKeyResource(record.partitionKey),
    ...(record.defaultTtlSec === undefined ? {} : { defaultTtl: record.defaultTtlSec }),
    ...uniqueKeyResource(record.uniqueKeys),
    ...globalIndexResource(record),
    ...(record.policies as ValueMap),
    _rid: containerRid(record.databaseRid, record.rid),
    _ts: record.timestampSec,
    _self: containerSelf(record),
    _etag: record.etag,
    _docs: 'docs/',
    _sprocs: 'sprocs/',
    _triggers: 'triggers/',
    _udfs: 'udfs/',
    _conflicts: 'conflicts/',
  };
}

/** Clients read a missing version as version 1, so only version 2 is sent, or version 1 where the client named it. */
function partitionKeyResource(definition: PartitionKeyDefinition) {
  const { paths, kind, version, isVersionNamed, systemKey } = definition;
  return {
    paths,
    kind: kind === 'Token' ? (paths.length > 1 ? 'MultiHash' : 'Hash') : kind,
    ...(version === 2 || isVersionNamed === true ? { version } : {}),
    ...(systemKey === true ? { systemKey } : {}),
  };
}

function uniqueKeyResource(uniqueKeys: readonly UniqueKey[]) {
  return uniqueKeys.length === 0 ? {} : { uniqueKeyPolicy: { uniqueKeys } };
}
