/**
 * The indexes beside the one over all paths: spatial, vector and full text. Checks only their form; throws
 * `invalidInput`.
 */
import { DomainError } from '../base/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../value/index.ts';

export interface SpatialIndex {
  readonly path: string;
  readonly types: readonly string[];
  readonly boundingBox?: BoundingBox;
}

interface BoundingBox {
  readonly xmin: number;
  readonly ymin: number;
  readonly xmax: number;
  readonly ymax: number;
}

/** Further properties tune the index and are stored as sent. */
export interface VectorIndex extends ValueMap {
  readonly path: string;
  readonly type: string;
}

export interface FullTextIndex {
  readonly path: string;
}

const SPATIAL_TYPES = ['Point', 'LineString', 'Polygon', 'MultiPolygon'];
const SHARD_PATHS_MAX = 1;
const VECTOR_INDEX_TYPES = ['flat', 'quantizedFlat', 'diskANN'];
const INDEXES_MAX = 100;

/** A path of names, plain or quoted; spatial paths end in `/?` or `/*` as in older policies. */
const PATH = /^(\/(\[\]|"([^"\\]|\\.)+"|[^/"[\]?*]+))+(\/[?*])?$/;
const PLAIN_PATH = /^(\/("([^"\\]|\\.)+"|[^/"[\]?*]+))+$/;

export function normalizeSpatialIndexes(sent: Value): readonly SpatialIndex[] | undefined {
  return listOf(sent, 'spatialIndexes', (entry) => {
    const path = pathOf(entry, PATH, 'spatial');
    const types = entry.types ?? SPATIAL_TYPES;
    if (!isList(types) || !types.every((type) => SPATIAL_TYPES.includes(type as string)))
      throw invalid(
        `The types of the spatial index '${path}' must be among ${SPATIAL_TYPES.join()}.`,
      );
    const index = { path, types: types as readonly string[] };
    if (entry.boundingBox === undefined || entry.boundingBox === null) return index;
    return { ...index, boundingBox: boundingBox(entry.boundingBox, path) };
  });
}

function boundingBox(sent: Value, path: string): BoundingBox {
  const { xmin, ymin, xmax, ymax } = isMap(sent) ? sent : {};
  const isNumeric =
    typeof xmin === 'number' &&
    typeof ymin === 'number' &&
    typeof xmax === 'number' &&
    typeof ymax === 'number';
  if (!isNumeric || xmin >= xmax || ymin >= ymax)
    throw invalid(
      `The boundingBox of the spatial index '${path}' must have xmin < xmax and ymin < ymax.`,
    );
  return { xmin, ymin, xmax, ymax };
}

export function normalizeVectorIndexes(sent: Value): readonly VectorIndex[] | undefined {
  return listOf(sent, 'vectorIndexes', (entry) => {
    const path = pathOf(entry, PLAIN_PATH, 'vector');
    const { type } = entry;
    if (typeof type !== 'string' || !VECTOR_INDEX_TYPES.includes(type))
      throw invalid(
        `The Vector Indexing Policy's Index Type::${String(type)} is invalid. It must be one of ${VECTOR_INDEX_TYPES.join()}.`,
      );
    checkParameter('QuantizationByteSize', entry.quantizationByteSize, { min: 1, max: 512 });
    checkParameter('IndexingSearchListSize', entry.indexingSearchListSize, { min: 25, max: 500 });
    checkShardKey(entry.vectorIndexShardKey);
    return { ...entry, path, type };
  });
}

function checkParameter(name: string, value: Value, { min, max }: { min: number; max: number }) {
  if (value === undefined || value === null) return;
  const isWhole = typeof value === 'number' && Number.isInteger(value);
  if (isWhole && value >= min && value <= max) return;
  throw invalid(
    `The Vector Indexing Policy parameter ${name} value :: ${String(value)} is out of range. The allowed range is between ${min} and ${max}.`,
  );
}

function checkShardKey(sent: Value): void {
  if (sent === undefined || sent === null) return;
  if (!isList(sent))
    throw invalid('One of the specified inputs is invalid: vectorIndexShardKey must be an array.');
  if (sent.length > SHARD_PATHS_MAX)
    throw invalid(
      `The number of shard paths defined in the Vector Indexing Policy: ${sent.length} exceeds the maximum: ${SHARD_PATHS_MAX}.`,
    );
  for (const path of sent)
    if (typeof path !== 'string' || !PLAIN_PATH.test(path))
      throw invalid(`The Vector Indexing Policy has an invalid Shard Path: ${String(path)}.`);
}

export function normalizeFullTextIndexes(sent: Value): readonly FullTextIndex[] | undefined {
  return listOf(sent, 'fullTextIndexes', (entry) => ({
    path: pathOf(entry, PLAIN_PATH, 'full text'),
  }));
}

function listOf<T>(
  sent: Value,
  name: string,
  normalize: (entry: ValueMap) => T,
): readonly T[] | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (!isList(sent)) throw invalid(`${name} must be an array.`);
  if (sent.length > INDEXES_MAX) throw invalid(`${name} may hold at most ${INDEXES_MAX} indexes.`);
  return sent.map((entry) => {
    if (!isMap(entry)) throw invalid(`Every entry of ${name} must be an object.`);
    return normalize(entry);
  });
}

function pathOf(entry: ValueMap, pattern: RegExp, kind: string): string {
  const { path } = entry;
  if (typeof path === 'string' && pattern.test(path)) return path;
  throw invalid(`Every ${kind} index must have the path of a property.`);
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
