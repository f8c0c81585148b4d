/** The environment of queries on a container, made once per version of its record. */
import { type Clock, systemRandom } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import { containerIndexing, textLanguages } from '../../../cluster/index.ts';
import type { Indexing } from '../../../partition/index.ts';
import { isList, isMap, type ValueMap } from '../../../value/index.ts';
import { computedDefinitions, computedProperties } from '../containers/computed-properties.ts';
import type {
  CompiledQuery,
  ComputedDefinition,
  FunctionEnvironment,
  Query,
} from '../sql/index.ts';

interface QueryEnvironment {
  readonly environment: FunctionEnvironment;
  readonly indexing: Indexing;
  /** Computed properties by name. */
  readonly computed: ReadonlyMap<string, ComputedDefinition>;
  /** Queries compiled with this environment. */
  readonly compileCache: WeakMap<Query, CompiledQuery>;
}

export class QueriedContainers {
  readonly #clock: Clock;
  readonly #environments = new WeakMap<ContainerRecord, QueryEnvironment>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(container: ContainerRecord): QueryEnvironment {
    let found = this.#environments.get(container);
    if (found === undefined) {
      found = {
        environment: this.#environmentOf(container),
        computed: computedDefinitions(container),
        indexing: containerIndexing(container, { json: computedProperties }),
        compileCache: new WeakMap(),
      };
      this.#environments.set(container, found);
    }
    return found;
  }

  #environmentOf({ policies }: ContainerRecord): FunctionEnvironment {
    const { geospatialConfig } = policies;
    const isFlat = isMap(geospatialConfig) && geospatialConfig.type === 'Geometry';
    return {
      clock: this.#clock,
      random: systemRandom,
      geospatial: isFlat ? 'geometry' : 'geography',
      vectorPolicy: vectorPolicyOf(policies),
      textLanguages: textLanguages(policies),
    };
  }
}

type VectorPolicy = FunctionEnvironment['vectorPolicy'];
type Distance = VectorPolicy extends ReadonlyMap<string, infer D> ? D : never;

function vectorPolicyOf({ vectorEmbeddingPolicy }: ValueMap): VectorPolicy {
  const policy = new Map<string, Distance>();
  const embeddings = isMap(vectorEmbeddingPolicy) ? vectorEmbeddingPolicy.vectorEmbeddings : [];
  if (!isList(embeddings)) return policy;
  for (const embedding of embeddings) {
    if (!isMap(embedding)) continue;
    const { path, distanceFunction } = embedding;
    // The policy was checked when the container was made.
    if (typeof path === 'string')
      policy.set(path, String(distanceFunction).toLowerCase() as Distance);
  }
  return policy;
}
