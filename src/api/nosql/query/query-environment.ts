/** The environment of queries on a container, made once per version of its record. */
import { type Clock, systemRandom } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import { containerIndexing, textLanguages } from '../../../cluster/index.ts';
import type { Indexing } from '../../../partition/index.ts';
import type { HomeApis } from '../../../service/index.ts';
import { isList, isMap, type ValueMap } from '../../../value/index.ts';
import { computedDefinitions } from '../containers/computed-properties.ts';
import type {
  CompiledQuery,
  ComputedDefinition,
  FunctionEnvironment,
  Query,
} from '../sql/index.ts';
import { type ForeignQuery, foreignQuery } from './foreign-query.ts';

interface QueryEnvironment {
  readonly environment: FunctionEnvironment;
  readonly indexing: Indexing;
  /** Computed properties by name. */
  readonly computed: ReadonlyMap<string, ComputedDefinition>;
  /** Queries compiled with this environment. */
  readonly compileCache: WeakMap<Query, CompiledQuery>;
  /** Set where the container belongs to another API. */
  readonly foreign: ForeignQuery | undefined;
}

export class QueriedContainers {
  readonly #clock: Clock;
  readonly #homes: HomeApis;
  readonly #environments = new WeakMap<ContainerRecord, QueryEnvironment>();

  constructor(clock: Clock, homes: HomeApis) {
    this.#clock = clock;
    this.#homes = homes;
  }

  of(container: ContainerRecord): QueryEnvironment {
    let found = this.#environments.get(container);
    if (found === undefined) {
      found = {
        environment: environmentOf(container.policies, this.#clock),
        computed: computedDefinitions(container),
        indexing: containerIndexing(container, this.#homes.of(container)),
        compileCache: new WeakMap(),
        foreign: foreignQuery(this.#homes.of(container), container),
      };
      this.#environments.set(container, found);
    }
    return found;
  }
}

export function environmentOf(policies: ValueMap, clock: Clock): FunctionEnvironment {
  const { geospatialConfig } = policies;
  const isFlat = isMap(geospatialConfig) && geospatialConfig.type === 'Geometry';
  return {
    clock,
    random: systemRandom,
    geospatial: isFlat ? 'geometry' : 'geography',
    vectorPolicy: vectorPolicyOf(policies),
    textLanguages: textLanguages(policies),
  };
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
