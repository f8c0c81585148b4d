/** From a container's policy to the rules its partitions index by. */
import { assert } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import { type ComputedProperty, Indexing } from '../partition/index.ts';
import { type Codec, type Encoding, jsonCodec } from '../value/index.ts';

const CODECS: Readonly<Partial<Record<Encoding, Codec>>> = { json: jsonCodec };

/** The computed properties of containers, from the APIs that know the language of their definitions. */
export type ComputedByEncoding = Readonly<
  Partial<Record<Encoding, (container: ContainerRecord) => readonly ComputedProperty[]>>
>;

export function containerIndexing(
  container: ContainerRecord,
  computed: ComputedByEncoding = {},
): Indexing {
  const { indexingPolicy, partitionKey, encoding } = container;
  const codec = CODECS[encoding];
  assert(codec !== undefined, 'no codec for the encoding of the container');
  return new Indexing({
    isOff: indexingPolicy.indexingMode === 'none',
    included: indexingPolicy.includedPaths.map(({ path }) => path),
    excluded: indexingPolicy.excludedPaths.map(({ path }) => path),
    always: partitionKey.paths.map((path) => `${path}/?`),
    composites: (indexingPolicy.compositeIndexes ?? []).map((parts) =>
      parts.map(({ path, order }) => ({ path, isDescending: order === 'descending' })),
    ),
    codec,
    computed: computed[encoding]?.(container) ?? [],
  });
}
