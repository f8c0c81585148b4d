/** Shared by the tests of this folder: the record of a container. */
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../../catalog/index.ts';

/** A container without partitions; `changes` replace its properties. */
export function containerRecord(changes: Partial<ContainerRecord> = {}): ContainerRecord {
  return {
    id: 'c',
    databaseRid: 1,
    rid: 2,
    etag: '"x"',
    timestampSec: 0,
    kind: 'fixed',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    encoding: 'json',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    partitions: [],
    nextPartitionId: 0,
    routingVersion: 1,
    ...changes,
  };
}
