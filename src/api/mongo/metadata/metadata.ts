/** What is known of a document beside its fields. */
import type { Bson, BsonDocument } from '../../../value/index.ts';

/** Each with its name in messages. */
const KINDS = {
  geoNearDistance: '$geoNear distance',
  geoNearPoint: '$geoNear point',
  indexKey: 'index key',
  recordId: 'record id',
  sortKey: 'sort key',
  textScore: 'text score',
} as const;

export type MetadataKind = keyof typeof KINDS;

/** Computed when it is asked for. */
export type Metadata = (kind: MetadataKind) => Bson | undefined;

export function isMetadataKind(name: string): name is MetadataKind {
  return Object.hasOwn(KINDS, name);
}

export function printKind(kind: MetadataKind): string {
  return KINDS[kind];
}

/** Documents are known by identity: a stage that makes another one hands its metadata on. */
const KNOWN = new WeakMap<BsonDocument, Metadata>();

export function metadataOf(document: BsonDocument): Metadata | undefined {
  return KNOWN.get(document);
}

/** The document with its metadata: a copy where it has other metadata already, for results may share it. */
export function withMetadata(document: BsonDocument, metadata: Metadata): BsonDocument {
  const known = KNOWN.get(document);
  if (known === metadata) return document;
  const own: BsonDocument = known === undefined ? document : new Map(document);
  KNOWN.set(own, metadata);
  return own;
}

/** One more kind beside those that are known. */
export function addMetadata(document: BsonDocument, kind: MetadataKind, value: Bson): void {
  const known = KNOWN.get(document);
  KNOWN.set(document, (wanted) => (wanted === kind ? value : known?.(wanted)));
}
