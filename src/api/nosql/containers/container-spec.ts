/** Parses the JSON of a container into the spec of a new container, or into an update. Throws `invalidInput`. */
import { DomainError } from '../../../base/index.ts';
import {
  type ContainerRecord,
  normalizeIndexingPolicy,
  type ThroughputSetting,
  type UniqueKey,
} from '../../../catalog/index.ts';
import type { ContainerSpec, ContainerUpdate } from '../../../service/index.ts';
import { isList, isMap, parsePath, type Value, type ValueMap } from '../../../value/index.ts';
import { TTL_SEC_MAX } from '../items/time-to-live.ts';
import { parsePolicies, versionRetention } from './container-policies.ts';
import { checkGlobalIndex, parseGlobalIndex } from './global-index-definition.ts';
import { isSameDefinition, parsePartitionKeyDefinition } from './partition-key-definition.ts';
import { resourceName } from './resource-name.ts';

const UNIQUE_KEYS_MAX = 10;
const UNIQUE_KEY_PATHS_MAX = 16;
/** Slashes, each followed by a plain or quoted name. */
const UNIQUE_KEY_PATH = /^(\/("([^"\\]|\\.)+"|[^/"[\]?*]+))+$/;

interface SpecOptions {
  /** True for clients of the first protocol versions, which make containers without a partition key. */
  readonly isKeyOptional: boolean;
  readonly throughput: ThroughputSetting | undefined;
  readonly hasMinuteReserve: boolean;
}

export function containerSpec(body: ValueMap, options: SpecOptions): ContainerSpec {
  const id = resourceName(body);
  const hasKey = body.partitionKey !== undefined && body.partitionKey !== null;
  if (!hasKey && !options.isKeyOptional)
    throw invalid(
      'The partition key definition is missing: containers made with this version of the API must have one.',
    );
  const partitionKey = hasKey ? parsePartitionKeyDefinition(body.partitionKey) : undefined;
  const update = parseUpdate(body);
  checkComputedNames(update, partitionKey?.paths ?? []);
  return {
    id,
    partitionKey,
    home: 'nosql',
    uniqueKeys: parseUniqueKeys(body.uniqueKeyPolicy),
    globalIndex: parseGlobalIndex(body, update.indexingPolicy),
    ...update,
    throughput: options.throughput,
    hasMinuteReserve: options.hasMinuteReserve,
  };
}

/** The update that a replacement means; name, partition key and unique keys must not change. */
export function containerUpdate(body: ValueMap, record: ContainerRecord): ContainerUpdate {
  if (resourceName(body) !== record.id)
    throw invalid('Replacing the id of a container is not allowed.');
  if (body.partitionKey !== undefined && body.partitionKey !== null) {
    const definition = parsePartitionKeyDefinition(body.partitionKey);
    if (!isSameDefinition(definition, record.partitionKey))
      throw invalid('Document collection partition key cannot be changed.');
  }
  if (body.uniqueKeyPolicy !== undefined) {
    const uniqueKeys = parseUniqueKeys(body.uniqueKeyPolicy);
    if (JSON.stringify(uniqueKeys) !== JSON.stringify(record.uniqueKeys))
      throw invalid('The unique key policy of a container cannot be changed.');
  }
  checkGlobalIndex(body, record);
  const update = parseUpdate(body);
  checkComputedNames(update, record.partitionKey.paths);
  const isChanged = (before: object | undefined, after: object | undefined) =>
    before !== undefined && JSON.stringify(after) !== JSON.stringify(before);
  const { policies, indexingPolicy } = record;
  if (
    isChanged(
      policies.vectorEmbeddingPolicy as object,
      update.policies.vectorEmbeddingPolicy as object,
    )
  )
    throw invalid('Paths in existing embedding policy cannot be modified in Collection Replace');
  if (isChanged(indexingPolicy.vectorIndexes, update.indexingPolicy.vectorIndexes))
    throw invalid(
      'Paths in existing vector indexing policy cannot be modified in Collection Replace',
    );
  return update;
}

function parseUpdate(body: ValueMap): ContainerUpdate {
  const indexingPolicy = normalizeIndexingPolicy(body.indexingPolicy);
  return {
    indexingPolicy,
    defaultTtlSec: parseDefaultTtl(body.defaultTtl),
    versionRetentionSec: versionRetention(body.changeFeedPolicy),
    policies: parsePolicies(body, indexingPolicy),
  };
}

/** A computed property must not shadow the partition key: items are routed by the stored value. */
function checkComputedNames({ policies }: ContainerUpdate, keyPaths: readonly string[]): void {
  const { computedProperties } = policies;
  const roots = keyPaths.map((path) => parsePath(path)[0]);
  for (const property of isList(computedProperties) ? computedProperties : [])
    if (isMap(property) && typeof property.name === 'string' && roots.includes(property.name))
      throw invalid(`The computed property name '${property.name}' is part of the partition key.`);
}

function parseDefaultTtl(sent: Value): number | undefined {
  if (sent === undefined) return undefined;
  if (Number.isInteger(sent)) {
    const seconds = sent as number;
    if (seconds === -1 || (seconds > 0 && seconds <= TTL_SEC_MAX)) return seconds;
  }
  throw invalid(
    `The input defaultTtl is invalid: it must be -1 or a whole number of seconds between 1 and ${TTL_SEC_MAX}.`,
  );
}

function parseUniqueKeys(sent: Value): readonly UniqueKey[] {
  if (sent === undefined || sent === null) return [];
  const keys = isMap(sent) ? (sent.uniqueKeys ?? []) : undefined;
  if (!isList(keys)) throw invalid('uniqueKeyPolicy must have an array uniqueKeys.');
  if (keys.length > UNIQUE_KEYS_MAX)
    throw invalid(`A unique key policy has at most ${UNIQUE_KEYS_MAX} keys.`);
  return keys.map((key) => {
    const paths = isMap(key) ? key.paths : undefined;
    if (!isList(paths) || paths.length === 0 || paths.length > UNIQUE_KEY_PATHS_MAX)
      throw invalid(`A unique key has 1 to ${UNIQUE_KEY_PATHS_MAX} paths.`);
    return {
      paths: paths.map((path) => {
        if (typeof path === 'string' && UNIQUE_KEY_PATH.test(path)) return path;
        throw invalid('Every unique key path must be the path of a property, such as /a/b.');
      }),
    };
  });
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
