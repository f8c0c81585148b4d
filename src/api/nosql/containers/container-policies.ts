/**
 * The policies of a container besides its indexing policy: checked against each other, completed with defaults and
 * stored. Throws `invalidInput`.
 */
import { DomainError } from '../../../base/index.ts';
import type { IndexingPolicy } from '../../../catalog/index.ts';
import { isList, isMap, type Value, type ValueMap } from '../../../value/index.ts';
import { parseComputed } from '../sql/index.ts';

const COMPUTED_PROPERTIES_MAX = 20;
const VECTOR_DIMENSIONS_MAX = 4096;
/** Thirty days: as long as the reference service keeps continuous backups. */
const VERSION_RETENTION_MINUTES_MAX = 30 * 24 * 60;
/** A flat index stores whole vectors. */
const FLAT_VECTOR_DIMENSIONS_MAX = 505;
/** Languages by name, or English by its number as older clients send it. */
const FULL_TEXT_LANGUAGES = ['1033', 'en-us', 'de-de', 'es-es', 'fr-fr', 'it-it', 'pt-br', 'pt-pt'];
const VECTOR_TYPES = ['float32', 'float16', 'int8', 'uint8'];
const DISTANCE_FUNCTIONS = ['cosine', 'euclidean', 'dotproduct'];
const SYSTEM_NAMES = ['id', '_rid', '_self', '_etag', '_ts', '_attachments', '_lsn', 'ttl'];

/** Policies that are stored and returned as sent, without effect here. */
const KEPT_AS_SENT = ['analyticalStorageTtl', 'clientEncryptionPolicy', 'changeFeedPolicy'];

export function parsePolicies(body: ValueMap, indexing: IndexingPolicy): ValueMap {
  const geospatialConfig = parseGeospatial(body.geospatialConfig);
  checkSpatialIndexes(indexing, geospatialConfig.type);
  const vectorEmbeddingPolicy = parseVectors(body.vectorEmbeddingPolicy);
  checkVectorIndexes(indexing, vectorEmbeddingPolicy);
  const policies: Record<string, Value> = {
    conflictResolutionPolicy: parseConflictResolution(body.conflictResolutionPolicy),
    geospatialConfig,
  };
  if (vectorEmbeddingPolicy !== undefined) policies.vectorEmbeddingPolicy = vectorEmbeddingPolicy;
  const fullTextPolicy = parseFullText(body.fullTextPolicy);
  if (fullTextPolicy !== undefined) policies.fullTextPolicy = fullTextPolicy;
  const computedProperties = parseComputedProperties(body.computedProperties);
  if (computedProperties !== undefined) policies.computedProperties = computedProperties;
  for (const name of KEPT_AS_SENT)
    if (body[name] !== undefined && body[name] !== null) policies[name] = body[name];
  return policies;
}

function parseConflictResolution(sent: Value): ValueMap {
  const policy = sent ?? {};
  if (!isMap(policy)) throw invalid('conflictResolutionPolicy must be an object.');
  const mode = policy.mode ?? 'LastWriterWins';
  if (mode !== 'LastWriterWins' && mode !== 'Custom')
    throw invalid('The mode of a conflictResolutionPolicy must be LastWriterWins or Custom.');
  const isLastWriter = mode === 'LastWriterWins';
  return {
    mode,
    conflictResolutionPath: policy.conflictResolutionPath || (isLastWriter ? '/_ts' : ''),
    conflictResolutionProcedure: policy.conflictResolutionProcedure ?? '',
  };
}

function parseGeospatial(sent: Value): { readonly type: 'Geography' | 'Geometry' } {
  if (sent === undefined || sent === null) return { type: 'Geography' };
  const type = isMap(sent) ? sent.type : undefined;
  if (type === 'Geography' || type === 'Geometry') return { type };
  throw invalid('The type of a geospatialConfig must be Geography or Geometry.');
}

/** A plane needs a bounding box; the Earth has its own bounds. */
function checkSpatialIndexes(indexing: IndexingPolicy, type: 'Geography' | 'Geometry'): void {
  for (const { path, boundingBox } of indexing.spatialIndexes ?? []) {
    if (type === 'Geometry' && boundingBox === undefined)
      throw invalid(`The spatial index '${path}' needs a boundingBox: the container is Geometry.`);
    if (type === 'Geography' && boundingBox !== undefined)
      throw invalid(
        `The spatial index '${path}' must not have a boundingBox: the container is Geography.`,
      );
  }
}

function parseVectors(sent: Value): ValueMap | undefined {
  if (sent === undefined || sent === null) return undefined;
  const embeddings = isMap(sent) ? sent.vectorEmbeddings : undefined;
  if (!isList(embeddings)) throw invalid('vectorEmbeddingPolicy must have vectorEmbeddings.');
  const paths = new Set<string>();
  for (const embedding of embeddings) {
    const { path, dataType, dimensions, distanceFunction } = isMap(embedding) ? embedding : {};
    if (typeof path !== 'string' || !path.startsWith('/'))
      throw invalid('Every vector embedding must have a path, such as /vector.');
    if (paths.has(path)) throw invalid(`The vector embedding path '${path}' is given twice.`);
    paths.add(path);
    if (!isOneOf(VECTOR_TYPES, dataType))
      throw invalid(
        `The Vector Embedding Policy has an invalid DataType:${String(dataType)}. It must be one of ${VECTOR_TYPES.join()}.`,
      );
    if (typeof dimensions !== 'number' || !Number.isInteger(dimensions) || dimensions < 1)
      throw invalid(
        `Vector Embedding Policy has invalid Dimensions:${JSON.stringify(dimensions)}, it should be positive integer.`,
      );
    if (dimensions > VECTOR_DIMENSIONS_MAX)
      throw invalid(
        `Vector Embedding Policy has Dimensions:${dimensions} which is more than max:${VECTOR_DIMENSIONS_MAX}.`,
      );
    if (!isOneOf(DISTANCE_FUNCTIONS, distanceFunction))
      throw invalid(
        `The Vector Embedding Policy has an invalid DistanceFunction:${String(distanceFunction)}. It must be one of ${DISTANCE_FUNCTIONS.join()}.`,
      );
  }
  return sent as ValueMap;
}

function checkVectorIndexes(indexing: IndexingPolicy, policy: ValueMap | undefined): void {
  const embeddings = (policy?.vectorEmbeddings ?? []) as readonly ValueMap[];
  for (const { path, type } of indexing.vectorIndexes ?? []) {
    const embedding = embeddings.find((candidate) => candidate.path === path);
    if (embedding === undefined)
      throw invalid(`The Vector Indexing Policy's path::${path} not matching in Embedding's path.`);
    if (type === 'flat' && (embedding.dimensions as number) > FLAT_VECTOR_DIMENSIONS_MAX)
      throw invalid(
        `A flat vector index takes at most ${FLAT_VECTOR_DIMENSIONS_MAX} dimensions; '${path}' has ${embedding.dimensions}.`,
      );
  }
}

function parseFullText(sent: Value): ValueMap | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (!isMap(sent)) throw invalid('fullTextPolicy must be an object.');
  checkLanguage(sent.defaultLanguage);
  const paths = sent.fullTextPaths ?? [];
  if (!isList(paths)) throw invalid('fullTextPaths must be an array.');
  for (const entry of paths) {
    const { path, language } = isMap(entry) ? entry : {};
    if (typeof path !== 'string' || !path.startsWith('/') || path.includes('*'))
      throw invalid(`The Full Text Policy contains an invalid Path: ${String(path)}.`);
    checkLanguage(language);
  }
  return sent;
}

function checkLanguage(sent: Value): void {
  if (sent === undefined || sent === null || isOneOf(FULL_TEXT_LANGUAGES, sent)) return;
  throw invalid(`The Full Text Policy contains an unsupported language: ${String(sent)}.`);
}

function parseComputedProperties(sent: Value): readonly Value[] | undefined {
  if (sent === undefined || sent === null) return undefined;
  if (!isList(sent))
    throw invalid('One of the specified inputs is invalid: computedProperties must be an array.');
  if (sent.length > COMPUTED_PROPERTIES_MAX)
    throw invalid(`A container has at most ${COMPUTED_PROPERTIES_MAX} computed properties.`);
  const names = new Set<string>();
  for (const property of sent) {
    const { name, query } = isMap(property) ? property : {};
    if (typeof name !== 'string' || name === '' || typeof query !== 'string')
      throw invalid('Every computed property must have a name and a query.');
    if (SYSTEM_NAMES.includes(name))
      throw invalid(`The computed property name '${name}' is reserved.`);
    if (names.has(name)) throw invalid(`The computed property name '${name}' is given twice.`);
    names.add(name);
    parseComputed(name, query);
  }
  return sent;
}

/** Seconds for which all versions of items are kept, from minutes in the policy. Undefined: only the latest. */
export function versionRetention(sent: Value): number | undefined {
  if (sent === undefined || sent === null) return undefined;
  const retention = isMap(sent) ? (sent.retentionDuration ?? 0) : undefined;
  if (typeof retention !== 'number' || !Number.isInteger(retention) || retention < 0)
    throw invalid('The retentionDuration of a changeFeedPolicy must be a whole number of minutes.');
  if (retention > VERSION_RETENTION_MINUTES_MAX)
    throw invalid(
      `The retentionDuration of a changeFeedPolicy is at most ${VERSION_RETENTION_MINUTES_MAX} minutes.`,
    );
  return retention === 0 ? undefined : retention * 60;
}

function isOneOf(list: readonly string[], value: Value): boolean {
  return typeof value === 'string' && list.includes(value.toLowerCase());
}

function invalid(message: string): DomainError {
  return new DomainError('invalidInput', message);
}
