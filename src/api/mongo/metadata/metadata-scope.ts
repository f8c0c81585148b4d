/** Which metadata expressions may ask for, and which they have asked for. */
import type { BsonDocument } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { type MetadataKind, metadataOf, printKind, withMetadata } from './metadata.ts';

/** Kinds that are refused where the search does not make them; others are missing then. */
const REQUIRED: ReadonlySet<MetadataKind> = new Set([
  'geoNearDistance',
  'geoNearPoint',
  'textScore',
]);

/** Hands the metadata of a document to another one that was made of it. */
export type Carry = (made: BsonDocument, from: BsonDocument) => BsonDocument;

export class MetadataScope {
  readonly #wanted: Set<MetadataKind>;
  readonly #available: ReadonlySet<MetadataKind>;
  #isGone: boolean;

  /** @param available - of the kinds that are refused otherwise. */
  constructor(
    available: readonly MetadataKind[],
    wanted: Set<MetadataKind> = new Set(),
    isGone = false,
  ) {
    this.#available = new Set(available);
    this.#wanted = wanted;
    this.#isGone = isGone;
  }

  /** Notes that an expression asks for it; false where the documents have none. */
  need(kind: MetadataKind): boolean {
    if (this.#isGone) return false;
    if (REQUIRED.has(kind) && !this.#available.has(kind)) throw unavailable(kind);
    this.#wanted.add(kind);
    return true;
  }

  /** From here on documents are made of many: they have no metadata. */
  leave(): void {
    this.#isGone = true;
  }

  /** For a pipeline beside others: what it leaves behind does not count for them. */
  branch(): MetadataScope {
    return new MetadataScope([...this.#available], this.#wanted, this.#isGone);
  }

  /** Known when everything is parsed. */
  wants(kind?: MetadataKind): boolean {
    return kind === undefined ? this.#wanted.size > 0 : this.#wanted.has(kind);
  }

  /** Costs nothing where nobody asks. */
  carrier(): Carry {
    return this.#wanted.size === 0 ? plain : carry;
  }
}

/** As `carrier`, also where there is no scope. */
export function carrierOf({ metadata }: { readonly metadata?: MetadataScope | undefined }): Carry {
  return metadata?.carrier() ?? plain;
}

function plain(made: BsonDocument): BsonDocument {
  return made;
}

function carry(made: BsonDocument, from: BsonDocument): BsonDocument {
  const metadata = made === from ? undefined : metadataOf(from);
  return metadata === undefined ? made : withMetadata(made, metadata);
}

export function unavailable(kind: MetadataKind): MongoError {
  return new MongoError(
    'Location40218',
    `query requires ${printKind(kind)} metadata, but it is not available`,
  );
}
