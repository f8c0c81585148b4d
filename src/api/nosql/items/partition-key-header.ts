/**
 * The partition key of a request: the header `x-ms-documentdb-partitionkey`, a JSON array with one value per path, and
 * the values found in an item. `{}` stands for a missing value, which is not null.
 */
import {
  DomainError,
  PARTITION_KEY_BYTES_MAX,
  PARTITION_KEY_PATHS_MAX,
} from '../../../base/index.ts';
import { readPath, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { RequestError } from '../errors.ts';

export const PARTITION_KEY_HEADER = 'x-ms-documentdb-partitionkey';

export type KeyValues = readonly Value[];

const UNDEFINED_KEY: KeyValues = [undefined];

/** The whole key, which a point operation must have. */
export function requiredPartitionKey(call: Call, view: ContainerView): KeyValues {
  const header = call.headers[PARTITION_KEY_HEADER];
  if (typeof header !== 'string') {
    if (view.isSystemKey) return UNDEFINED_KEY;
    throw new DomainError(
      'invalidInput',
      'PartitionKey value must be supplied for this operation.',
    );
  }
  return wholeKey(parsePartitionKey(header), view);
}

/** Throws 400/1001 where a level is missing. */
export function wholeKey(values: KeyValues, view: ContainerView): KeyValues {
  if (values.length === view.keyPaths.length) return values;
  if (values.length === 0 && view.isSystemKey) return UNDEFINED_KEY;
  throw wrongLevels();
}

/** The key of a feed: whole, or a prefix of a hierarchical key. Undefined where none was sent. */
export function feedPartitionKey(call: Call, view: ContainerView): KeyValues | undefined {
  const header = call.headers[PARTITION_KEY_HEADER];
  if (typeof header !== 'string') return undefined;
  const values = parsePartitionKey(header);
  if (values.length === 0 && view.isSystemKey) return UNDEFINED_KEY;
  if (values.length === 0 || values.length > view.keyPaths.length) throw wrongLevels();
  return values;
}

/** Throws 400/1001 where the key in the item is not that of the request. */
export function checkItemKey(
  view: Pick<ContainerView, 'keyPaths'>,
  named: KeyValues,
  item: ValueMap,
): void {
  for (let at = 0; at < view.keyPaths.length; at++) {
    const path = view.keyPaths[at];
    const found = path === undefined ? undefined : toKeyValue(readPath(item, path));
    if (found !== named[at]) throw keyMismatch();
    checkSize(found);
  }
}

export function parsePartitionKey(header: string): KeyValues {
  const plain = plainString(header);
  if (plain !== undefined) return [plain];
  let list: unknown;
  try {
    list = JSON.parse(header);
  } catch {
    throw invalidKey(header);
  }
  return toKeyValues(list, header);
}

/** @param text - the text of the client, for the error message. */
export function toKeyValues(list: unknown, text: string): KeyValues {
  if (!Array.isArray(list) || list.length > PARTITION_KEY_PATHS_MAX) throw invalidKey(text);
  return list.map((component: unknown) => {
    if (typeof component === 'number' && Number.isFinite(component)) return component + 0;
    if (typeof component === 'string' || typeof component === 'boolean') return component;
    if (component === null) return null;
    if (isEmptyObject(component)) return undefined;
    throw invalidKey(text);
  });
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && !Array.isArray(value) && Object.keys(value ?? {}).length === 0
  );
}

/** Reads `["text"]` without escapes, by far the most common key, without a parser. */
function plainString(header: string): string | undefined {
  const end = header.length - 2;
  if (!header.startsWith('["') || header.indexOf('"', 2) !== end) return undefined;
  if (header.charCodeAt(end + 1) !== 0x5d || header.includes('\\')) return undefined;
  return header.slice(2, end);
}

/** Objects and arrays are no key values: such an item counts as having no value. */
export function toKeyValue(value: Value): Value {
  // Adding zero makes 0 of -0, which JSON writes the same.
  if (typeof value === 'number') return value + 0;
  return typeof value === 'object' && value !== null ? undefined : value;
}

function checkSize(value: Value): void {
  if (typeof value !== 'string' || value.length * 3 <= PARTITION_KEY_BYTES_MAX) return;
  if (Buffer.byteLength(value) <= PARTITION_KEY_BYTES_MAX) return;
  throw new DomainError(
    'invalidInput',
    `Partition key value exceeds the maximum of ${PARTITION_KEY_BYTES_MAX} bytes.`,
  );
}

function invalidKey(header: string): RequestError {
  return new RequestError(
    400,
    `Partition key ${header.slice(0, 256)} is invalid: a JSON array with one value per partition key path is expected.`,
  );
}

function wrongLevels(): DomainError {
  return new DomainError(
    'partitionKeyMismatch',
    "Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document.",
  );
}

function keyMismatch(): DomainError {
  return new DomainError(
    'partitionKeyMismatch',
    "PartitionKey extracted from document doesn't match the one specified in the header.",
  );
}
