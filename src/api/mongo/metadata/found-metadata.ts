/** From the search that found a document to what is known of it. */
import { type BsonDocument, Double } from '../../../value/index.ts';
import { decoded, type Rows } from '../documents/rows.ts';
import { type NearQuery, nearestPlace } from '../query/geo/near.ts';
import type { FieldPath } from '../query/path.ts';
import type { Sort } from '../query/sort.ts';
import type { TextQuery } from '../query/text/text-query.ts';
import { type Metadata, withMetadata } from './metadata.ts';

/** What documents were found by; a search lacks most of it. */
export interface MetadataSource {
  readonly text?: TextQuery | undefined;
  readonly near?: { readonly path: FieldPath; readonly near: NearQuery } | undefined;
  readonly sort?: Sort | undefined;
  readonly indexKeyOf?: ((document: BsonDocument) => BsonDocument) | undefined;
}

/** @param rid - undefined where the document is not stored. */
export function foundMetadata(
  document: BsonDocument,
  rid: number | undefined,
  { text, near, sort, indexKeyOf }: MetadataSource,
): Metadata {
  return (kind) => {
    switch (kind) {
      case 'textScore':
        return text && new Double(text.score(document) ?? 0);
      case 'geoNearDistance':
        return near && new Double(nearestPlace(document, near.path, near.near).distance);
      case 'geoNearPoint':
        return near && nearestPlace(document, near.path, near.near).place;
      case 'indexKey':
        return indexKeyOf?.(document);
      case 'recordId':
        return rid === undefined ? undefined : BigInt(rid);
      case 'sortKey':
        return sort?.keyOf(document).map((part) => part ?? null);
      default:
        return kind satisfies never;
    }
  };
}

/** The rows, whose documents know what the search knows of them. */
export async function* withFound(rows: Rows, source: MetadataSource): Rows {
  for await (const batch of decoded(rows)) {
    for (const { document, rid } of batch)
      withMetadata(document, foundMetadata(document, rid, source));
    yield batch;
  }
}
