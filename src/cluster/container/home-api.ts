/**
 * The home API of a container: the API that created it. One descriptor holds everything that depends on it below the
 * APIs; each API makes its own, and the server lists them once.
 */
import type { ContainerRecord, HomeName, IndexDefinition } from '../../catalog/index.ts';
import type {
  BodyFinisher,
  ComputedEntries,
  ComputedProperty,
  Item,
  KeyCodec,
  NewBody,
  Rid,
  UniqueValues,
  Updaters,
} from '../../partition/index.ts';
import { type Codec, codecOf, type Value, type ValueMap } from '../../value/index.ts';

export interface HomeApi {
  readonly name: HomeName;
  /** Reads and writes the stored bodies. */
  readonly codec: Codec;
  /** How addresses become keys; absent: as those of the NoSQL API. */
  keys?(container: ContainerRecord): KeyCodec;
  /** Absent: the home API adds nothing to what the client sent. */
  finisher?(container: ContainerRecord): BodyFinisher;
  /** Properties that are indexed as if items had them; by the API that knows the language of their definitions. */
  computed?(container: ContainerRecord): readonly ComputedProperty[];
  /** The entries of a virtual index; undefined where this API has none for it, which then is not built. */
  entries?(index: IndexDefinition): ComputedEntries | undefined;
  /** The values that a unique index compares; undefined where they are those of its entries. */
  uniqueValues?(index: IndexDefinition): UniqueValues | undefined;
  /** Rows of a global secondary index; absent where the home API has none. */
  project?(index: ContainerRecord, source: ContainerRecord): Projection;
  /** Updates that writes may name. Their names begin with that of the API. */
  readonly updaters?: Updaters;
  /** How the NoSQL API shows and takes items; absent where stored bodies are the JSON that it returns. */
  readonly image?: JsonImage;
}

/** Items of a home API as JSON documents, for the NoSQL API. */
interface JsonImage {
  /** Names of properties that documents have and stored items do not: no index has them. */
  readonly added: readonly string[];
  /**
   * The document of an item. Values that JSON lacks are printed as extended JSON.
   * @param value - the decoded body.
   */
  view(item: ImagedItem, value: Value, container: ContainerRecord): ValueMap;
  /** The item of a document. Throws `invalidInput` where the home API could not store it. */
  take(document: ValueMap, container: ContainerRecord): ImageWrite;
  /** The partition key that values of documents name; absent: they are the same. */
  partitionKeyOf?(shown: readonly Value[], container: ContainerRecord): readonly Value[];
  /** The row key that an id in a path names. */
  rowKeyOf(id: string, container: ContainerRecord): readonly Value[];
}

/** The parts of an item that its document shows. */
type ImagedItem = Pick<Item, 'rid' | 'primary' | 'version' | 'body'>;

interface ImageWrite extends NewBody {
  readonly partitionKey: readonly Value[];
  readonly rowKey: readonly Value[];
}

/** Makes rows of a global secondary index from items. */
export interface Projection {
  rowOf(item: Item): IndexRow;
  /** The id of the row of an item. */
  idOf(rid: Rid): string;
}

interface IndexRow extends NewBody {
  readonly partitionKey: readonly Value[];
}

/** The home APIs of this server. */
export class HomeApis {
  readonly #byName: ReadonlyMap<HomeName, HomeApi>;
  /** The updaters of all APIs, since a container may be written through several. */
  readonly updaters: Updaters;

  constructor(homes: readonly HomeApi[]) {
    this.#byName = new Map(homes.map((home) => [home.name, home]));
    this.updaters = Object.assign({}, ...homes.map(({ updaters }) => updaters));
  }

  /** Items of an API that is not served can still be stored, moved and read as they are. */
  of({ home, encoding }: Pick<ContainerRecord, 'home' | 'encoding'>): HomeApi {
    return this.#byName.get(home) ?? { name: home, codec: codecOf(encoding) };
  }

  /** The home of that name; its containers are stored in its encoding. */
  named(name: HomeName): HomeApi {
    return this.#byName.get(name) ?? { name, codec: codecOf('json') };
  }
}
