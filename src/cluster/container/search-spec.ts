/** Translates the policies of a container into the vector and text indexes of its partitions. */
import type { ContainerRecord } from '../../catalog/index.ts';
import {
  type SearchSpec,
  type TextLanguage,
  textLanguage,
  type VectorDistance,
  type VectorSpec,
} from '../../search/index.ts';
import { isList, isMap, type ValueMap } from '../../value/index.ts';
import type { HomeApi } from './home-api.ts';

/** Undefined where the container has neither. */
export function searchSpec(container: ContainerRecord, { codec }: HomeApi): SearchSpec | undefined {
  const { indexingPolicy } = container;
  const languages = textLanguages(container.policies);
  const texts = (indexingPolicy.fullTextIndexes ?? []).map(({ path }) => ({
    path,
    language: languages.get(path) ?? languages.get('') ?? 'en',
  }));
  const vectors = vectorSpecs(container);
  if (texts.length === 0 && vectors.length === 0) return undefined;
  const fingerprint = JSON.stringify([vectors, texts]);
  return { vectors, texts, codec, fingerprint };
}

/** Languages of texts by path; the default language has the empty path. */
export function textLanguages({ fullTextPolicy }: ValueMap): ReadonlyMap<string, TextLanguage> {
  const policy = isMap(fullTextPolicy) ? fullTextPolicy : {};
  const paths = isList(policy.fullTextPaths) ? policy.fullTextPaths : [];
  return new Map<string, TextLanguage>([
    ['', textLanguage(policy.defaultLanguage)],
    ...paths.flatMap((entry): readonly (readonly [string, TextLanguage])[] =>
      isMap(entry) && typeof entry.path === 'string'
        ? [[entry.path, textLanguage(entry.language ?? policy.defaultLanguage)]]
        : [],
    ),
  ]);
}

function vectorSpecs({ indexingPolicy, policies }: ContainerRecord): readonly VectorSpec[] {
  const policy = policies.vectorEmbeddingPolicy;
  const embeddings =
    isMap(policy) && isList(policy.vectorEmbeddings) ? policy.vectorEmbeddings : [];
  return (indexingPolicy.vectorIndexes ?? []).flatMap(({ path, type }): readonly VectorSpec[] => {
    const embedding = embeddings.find((each) => isMap(each) && each.path === path);
    if (embedding === undefined) return [];
    // These were checked when the container was created.
    const { dimensions, distanceFunction } = embedding as ValueMap;
    return [
      {
        path,
        dimensions: dimensions as number,
        distance: String(distanceFunction).toLowerCase() as VectorDistance,
        isApproximate: type === 'diskANN',
      },
    ];
  });
}
