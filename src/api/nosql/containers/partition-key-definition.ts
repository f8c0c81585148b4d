/** Parses the partition key definition of a container. */
import { DomainError, PARTITION_KEY_PATHS_MAX } from '../../../base/index.ts';
import {
  isList,
  isMap,
  type PartitionKeyDefinition,
  parsePartitionKeyPath,
  type Value,
} from '../../../value/index.ts';

/** Paths that no item can be routed by, because the service sets them at the write. */
const SYSTEM_PATHS = ['/_rid', '/_self', '/_etag', '/_ts', '/_attachments'];

/** Throws `invalidInput`. */
export function parsePartitionKeyDefinition(sent: Value): PartitionKeyDefinition {
  if (!isMap(sent)) throw invalid('The partition key definition must be an object.');
  const { paths, systemKey } = sent;
  if (!isList(paths) || paths.length === 0)
    throw invalid('The partition key definition must have an array of at least one path.');
  const kind = parseKind(sent.kind, paths.length);
  checkPaths(paths);
  const named = versionNumber(sent.version);
  const version = parseVersion(named, kind);
  return {
    paths: paths as readonly string[],
    kind,
    version,
    ...(named === 1 ? { isVersionNamed: true } : {}),
    ...(systemKey === true ? { systemKey } : {}),
  };
}

/** True for the same paths in the same order with the same hash. */
export function isSameDefinition(a: PartitionKeyDefinition, b: PartitionKeyDefinition): boolean {
  return a.kind === b.kind && a.version === b.version && a.paths.join('\n') === b.paths.join('\n');
}

function parseKind(sent: Value, pathCount: number): PartitionKeyDefinition['kind'] {
  const kind = sent ?? 'Hash';
  if (kind === 'MultiHash') {
    if (pathCount > PARTITION_KEY_PATHS_MAX)
      throw invalid(
        `Too many partition key paths specified: ${pathCount}. A hierarchical partition key has at most ${PARTITION_KEY_PATHS_MAX}.`,
      );
    return 'MultiHash';
  }
  if (kind !== 'Hash') throw invalid('The partition key kind must be Hash or MultiHash.');
  if (pathCount > 1)
    throw invalid(
      `Too many partition key paths specified: ${pathCount}. Must be 1 with kind Hash; kind MultiHash takes up to ${PARTITION_KEY_PATHS_MAX}.`,
    );
  return 'Hash';
}

/** Java's client sends the name of the enumeration value, others the number. */
function versionNumber(sent: Value): Value {
  if (sent === 'V1') return 1;
  return sent === 'V2' ? 2 : sent;
}

/** A missing version means version 1: clients and service must agree on the hash. */
function parseVersion(sent: Value, kind: PartitionKeyDefinition['kind']): 1 | 2 {
  if (kind === 'MultiHash') {
    if (sent === undefined || sent === null || sent === 2) return 2;
    throw invalid('A hierarchical partition key must be of version 2.');
  }
  if (sent === undefined || sent === null || sent === 1) return 1;
  if (sent === 2) return 2;
  throw invalid('The partition key version must be 1 or 2.');
}

function checkPaths(paths: readonly Value[]): void {
  const seen = new Set<string>();
  for (const path of paths) {
    if (typeof path !== 'string') throw invalid('Every partition key path must be a string.');
    if (parsePartitionKeyPath(path) === undefined)
      throw invalid(
        `The partition key component definition path '${path}' could not be accepted, failed near position '${badPosition(path)}'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.`,
      );
    if (SYSTEM_PATHS.includes(path))
      throw invalid(`The partition key path '${path}' names a property that the service sets.`);
    if (seen.has(path)) throw invalid(`The partition key path '${path}' is given twice.`);
    seen.add(path);
  }
}

/** The position of the first invalid character. */
function badPosition(path: string): number {
  if (!path.startsWith('/')) return 0;
  const bad = path.slice(1).search(/[^\p{L}\p{N}_.\-/"']/u);
  return bad < 0 ? path.length - 1 : bad + 1;
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
