/**
 * Effective partition keys: the position of a partition key in the hash space. Physical partitions are ranges of
 * effective partition keys. On the wire they are upper-case hexadecimal, inside they are bytes, and both sort alike.
 *
 *   Hash, version 2   MurmurHash3 x64 128 of all components, bytes reversed, top two bits cleared: 16 bytes
 *   Hash, version 1   MurmurHash3 x86 32 of all components as a number, then the components themselves, encoded
 *   MultiHash         version 2 of each component by itself, one after the other: 16 bytes per level, so that the
 *                     key of a prefix is a prefix of the keys below it
 *   Range             the encoded components without a hash
 *   Token             01, then the token of Cassandra with its sign bit flipped (token.ts): its order is that of tokens
 */
import {
  assert,
  type Bytes,
  compareBytes,
  concatBytes,
  DomainError,
  EMPTY_BYTES,
  fromHex,
  murmur3x64_128,
  murmur3x86_32,
  toHex,
  unreachable,
} from '../base/index.ts';
import { type Draft, finished, putForHashing, putForV1, putNumberV1 } from './epk-component.ts';
import { epkOfToken } from './token.ts';
import type { Value } from './value.ts';

/** Variable length: 16 bytes (V2), 16 per level (MultiHash), or as many as it takes (V1). */
export type Epk = Bytes;

export interface PartitionKeyDefinition {
  readonly paths: readonly string[];
  readonly kind: 'Hash' | 'MultiHash' | 'Range' | 'Token';
  readonly version: 1 | 2;
  /** True if the creator of the container named the version; only then responses contain it. */
  readonly isVersionNamed?: boolean;
  /** True if the service chose the definition, for a container created without one. */
  readonly systemKey?: boolean;
}

/** Less than or equal to every key. */
export const EPK_MIN: Epk = EMPTY_BYTES;

/** Greater than every key: none begins with FF. */
export const EPK_MAX: Epk = Uint8Array.of(0xff);

const HASH_BYTES = 16;
/** The size of the hash space: 128 bits, of which the top two are cleared. */
const V2_SPACE = 2n ** 126n;
const V1_SPACE = 2 ** 32;
const DRAFT_BYTES = 128;

/** An empty list of components gives EPK_MIN. Tokens are hashes of what only their home API knows how to serialize. */
export function effectivePartitionKey(
  components: readonly Value[],
  definition: PartitionKeyDefinition,
): Epk {
  if (components.length === 0) return EPK_MIN;
  switch (definition.kind) {
    case 'Hash':
      return definition.version === 2 ? hashV2(components) : hashV1(components);
    case 'MultiHash':
      return components.length === 1
        ? hashV2(components)
        : concatBytes(...components.map((component) => hashV2([component])));
    case 'Range':
      return encoded(components, newDraft());
    case 'Token':
      throw new DomainError('invalidInput', 'The home API of the container has to hash its keys.');
    default:
      return unreachable(definition.kind);
  }
}

/**
 * The keys that begin with a prefix of a hierarchical key, [min, max). All levels give the one key, none gives all
 * keys.
 */
export function epkRangeOfPrefix(
  components: readonly Value[],
  definition: PartitionKeyDefinition,
): { min: Epk; max: Epk } {
  if (definition.kind === 'Token' && components.length > 0)
    throw new DomainError('invalidInput', 'A partition key is hashed as a whole.');
  const min = effectivePartitionKey(components, definition);
  return { min, max: concatBytes(min, EPK_MAX) };
}

/** The count + 1 boundaries of `count` ranges that receive equally many keys. */
export function evenEpkBoundaries(
  count: number,
  definition: PartitionKeyDefinition,
): readonly Epk[] {
  assert(Number.isSafeInteger(count) && count >= 1, 'there is at least one range');
  const boundaries: Epk[] = [EPK_MIN];
  for (let index = 1; index < count; index++)
    boundaries.push(evenBoundary({ index, count }, definition));
  boundaries.push(EPK_MAX);
  return boundaries;
}

/** Precision: a millionth. */
const RING_STEPS = 2 ** 20;

/** The position of a boundary in the hash space: the share of all keys, 0 to 1, that is below it. */
export function ringPosition(epk: Epk, definition: PartitionKeyDefinition): number {
  if (epk.length === 0) return 0;
  let low = 0;
  let high = RING_STEPS;
  while (low < high) {
    const index = Math.floor((low + high) / 2);
    const boundary = index === 0 ? EPK_MIN : evenBoundary({ index, count: RING_STEPS }, definition);
    if (compareBytes(boundary, epk) < 0) low = index + 1;
    else high = index;
  }
  return low / RING_STEPS;
}

export function epkToHex(epk: Epk): string {
  return toHex(epk);
}

export function epkFromHex(text: string): Epk {
  if (!/^(?:[0-9A-Fa-f]{2})*$/.test(text))
    throw new DomainError('invalidInput', 'an effective partition key is hexadecimal');
  return fromHex(text);
}

function evenBoundary(
  { index, count }: { readonly index: number; readonly count: number },
  { kind, version }: PartitionKeyDefinition,
): Epk {
  if (kind === 'MultiHash' || (kind === 'Hash' && version === 2)) {
    const value = (BigInt(index) * V2_SPACE) / BigInt(count);
    return fromHex(value.toString(16).padStart(HASH_BYTES * 2, '0'));
  }
  if (kind === 'Token') return epkOfToken((BigInt(index) << 64n) / BigInt(count) - 2n ** 63n);
  const draft = newDraft();
  if (kind === 'Hash') putNumberV1(draft, Math.floor((index * V1_SPACE) / count));
  // The distribution of keys is unknown without a hash: split by the first two bytes of texts.
  else {
    draft.bytes[draft.length++] = 0x08;
    draft.length = draft.bytes.writeUInt16BE(Math.floor((index * 0x10000) / count), draft.length);
  }
  return finished(draft);
}

function hashV2(components: readonly Value[]): Epk {
  const draft = newDraft();
  for (const component of components) putForHashing(draft, component, 2);
  const epk = murmur3x64_128(draft.bytes.subarray(0, draft.length)).reverse();
  epk[0] = (epk[0] as number) & 0x3f;
  return epk;
}

function hashV1(components: readonly Value[]): Epk {
  const draft = newDraft();
  for (const component of components) putForHashing(draft, component, 1);
  const hash = murmur3x86_32(draft.bytes.subarray(0, draft.length));
  draft.length = 0;
  putNumberV1(draft, hash);
  return encoded(components, draft);
}

function encoded(components: readonly Value[], draft: Draft): Epk {
  for (const component of components) putForV1(draft, component);
  return finished(draft);
}

function newDraft(): Draft {
  return { bytes: Buffer.allocUnsafe(DRAFT_BYTES), length: 0 };
}
