/**
 * Which paths of an item are indexed. The policy is kept as clients see it, normalised: the same meaning always has
 * the same text, for clients of every generation of the service.
 */
import { DomainError } from '../base/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../value/index.ts';
import {
  type FullTextIndex,
  normalizeFullTextIndexes,
  normalizeSpatialIndexes,
  normalizeVectorIndexes,
  type SpatialIndex,
  type VectorIndex,
} from './special-indexes.ts';

export interface IndexingPolicy {
  readonly indexingMode: 'consistent' | 'none';
  readonly automatic: boolean;
  readonly includedPaths: readonly IndexedPath[];
  readonly excludedPaths: readonly IndexedPath[];
  readonly compositeIndexes?: readonly (readonly CompositePath[])[];
  readonly spatialIndexes?: readonly SpatialIndex[];
  readonly vectorIndexes?: readonly VectorIndex[];
  readonly fullTextIndexes?: readonly FullTextIndex[];
}

interface IndexedPath {
  readonly path: string;
}

export interface CompositePath {
  readonly path: string;
  readonly order: 'ascending' | 'descending';
}

/** Etags change with every write and an index on them is useless, so they are always excluded. */
const ETAG_PATH = '/"_etag"/?';
const ALL_PATH = '/*';
const PATHS_MAX = 1500;
const COMPOSITES_MAX = 100;
const COMPOSITE_PATHS_MAX = 8;

/** A path of names (plain or quoted) and `[]` steps, ending in `/?` (this value) or `/*` (all below). */
const INDEX_PATH = /^(\/(\[\]|"([^"\\]|\\.)+"|[^/"[\]?*]+))*\/[?*]$/;
const PROPERTY_PATH = /^(\/(\[\]|"([^"\\]|\\.)+"|[^/"[\]?*]+))+(\/\?)?$/;

export const DEFAULT_INDEXING_POLICY: IndexingPolicy = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [{ path: ALL_PATH }],
  excludedPaths: [{ path: ETAG_PATH }],
};

/** Checks the policy of a client and returns its normal form. Throws `invalidInput`. */
export function normalizeIndexingPolicy(sent: Value): IndexingPolicy {
  if (sent === undefined || sent === null) return DEFAULT_INDEXING_POLICY;
  if (!isMap(sent)) throw invalid('The indexing policy must be an object.');
  const mode = normalizeMode(sent.indexingMode);
  if (mode === 'none') return normalizeNone(sent);
  const included = normalizePaths(sent.includedPaths, 'includedPaths');
  const excluded = normalizePaths(sent.excludedPaths, 'excludedPaths');
  const hasRoot = [...included, ...excluded].some(({ path }) => path === ALL_PATH || path === '/');
  if (!hasRoot) {
    if (included.length > 0 || excluded.some(({ path }) => path !== ETAG_PATH))
      throw invalid(
        "The special mandatory indexing path '/' is not provided in any of the path type sets.",
      );
    included.push({ path: ALL_PATH });
  }
  if (!excluded.some(({ path }) => path === ETAG_PATH)) excluded.push({ path: ETAG_PATH });
  return {
    indexingMode: mode,
    automatic: sent.automatic !== false,
    includedPaths: included,
    excludedPaths: excluded,
    ...optional('compositeIndexes', normalizeComposites(sent.compositeIndexes)),
    ...optional('spatialIndexes', normalizeSpatialIndexes(sent.spatialIndexes)),
    ...optional('vectorIndexes', normalizeVectorIndexes(sent.vectorIndexes)),
    ...optional('fullTextIndexes', normalizeFullTextIndexes(sent.fullTextIndexes)),
  };
}

function normalizeNone(sent: ValueMap): IndexingPolicy {
  const hasPaths = ['includedPaths', 'excludedPaths'].some((name) => {
    const paths = sent[name];
    return (
      isList(paths) &&
      paths.some((entry) => isMap(entry) && entry.path !== ETAG_PATH && entry.path !== ALL_PATH)
    );
  });
  if (hasPaths)
    throw invalid('When Indexing Mode is None, no included or excluded paths may be given.');
  if (sent.automatic === true)
    throw invalid("If the IndexingMode is None then the property 'automatic' must be false.");
  return { indexingMode: 'none', automatic: false, includedPaths: [], excludedPaths: [] };
}

function normalizeMode(sent: Value): IndexingPolicy['indexingMode'] {
  if (sent === undefined || sent === null) return 'consistent';
  const mode = typeof sent === 'string' ? sent.toLowerCase() : undefined;
  if (mode === 'consistent' || mode === 'lazy') return 'consistent';
  if (mode === 'none') return 'none';
  throw invalid('The indexing mode must be one of: consistent, lazy, none.');
}

function normalizePaths(sent: Value, name: string): IndexedPath[] {
  if (sent === undefined || sent === null) return [];
  if (!isList(sent)) throw invalid(`${name} must be an array.`);
  if (sent.length > PATHS_MAX) throw invalid(`${name} may hold at most ${PATHS_MAX} paths.`);
  const seen = new Set<string>();
  for (const entry of sent) {
    const path = isMap(entry) ? entry.path : undefined;
    if (typeof path !== 'string') throw invalid(`Every entry of ${name} must have a path.`);
    if (path !== '/' && !INDEX_PATH.test(path))
      throw invalid(
        `The indexing path '${path}' could not be accepted, failed near position '${path.length - 1}'. Please ensure that the path is a valid path. Common errors include invalid characters or absence of quotes around labels.`,
      );
    seen.add(path === '/' ? ALL_PATH : path);
  }
  return [...seen].map((path) => ({ path }));
}

function normalizeComposites(sent: Value): readonly (readonly CompositePath[])[] | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (!isList(sent)) throw invalid('compositeIndexes must be an array.');
  if (sent.length > COMPOSITES_MAX)
    throw invalid(`compositeIndexes may hold at most ${COMPOSITES_MAX} indexes.`);
  return sent.map((composite) => {
    if (!isList(composite) || composite.length < 2 || composite.length > COMPOSITE_PATHS_MAX)
      throw invalid(`A composite index must have 2 to ${COMPOSITE_PATHS_MAX} paths.`);
    return composite.map((entry): CompositePath => {
      const path = isMap(entry) ? entry.path : undefined;
      const order = isMap(entry) ? (entry.order ?? 'ascending') : undefined;
      if (typeof path !== 'string' || !PROPERTY_PATH.test(path))
        throw invalid('Every path of a composite index must be the path of a property.');
      if (order !== 'ascending' && order !== 'descending')
        throw invalid('The order of a composite path must be ascending or descending.');
      return { path, order };
    });
  });
}

function optional<K extends string, T>(name: K, value: T | undefined): { [P in K]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: T };
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
