/**
 * Items of containers whose home API stores something other than the JSON that this API returns: each is shown as a
 * document by the image of its home API, with the system properties of this one.
 */
import { type Bytes, DomainError } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Item, NewBody } from '../../../partition/index.ts';
import { type HomeApi, type ItemAddress, SystemProperties } from '../../../service/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import { withoutSystemProperties } from './system-properties.ts';

/** The parts of an item that its document shows. */
type ShownItem = Pick<Item, 'rid' | 'primary' | 'version' | 'etag' | 'timestampSec' | 'body'>;

export class ForeignItems {
  readonly #image: NonNullable<HomeApi['image']>;
  readonly #codec: HomeApi['codec'];
  readonly #container: ContainerRecord;
  readonly #system: SystemProperties;

  /** Undefined where stored bodies are what this API returns. */
  static of(home: HomeApi, container: ContainerRecord): ForeignItems | undefined {
    return home.image === undefined ? undefined : new ForeignItems(home, home.image, container);
  }

  constructor(home: HomeApi, image: NonNullable<HomeApi['image']>, container: ContainerRecord) {
    this.#image = image;
    this.#codec = home.codec;
    this.#container = container;
    this.#system = new SystemProperties(container);
  }

  documentOf(item: ShownItem, value: Value = this.#codec.decode(item.body)): ValueMap {
    const { rid, version, etag, timestampSec } = item;
    const shown = this.#image.view(item, value, this.#container);
    return this.#system.added(shown, { rid, version, etag, timestampSec, time: '' });
  }

  bodyOf(item: ShownItem): Bytes {
    return Buffer.from(JSON.stringify(this.documentOf(item)));
  }

  contentOf(document: ValueMap): NewBody {
    const { body, ttlSec, value } = this.#image.take(
      withoutSystemProperties(document),
      this.#container,
    );
    return { body, ttlSec, ...(value === undefined ? {} : { value }) };
  }

  /** @param key - the partition key as documents show it. */
  addressOf(key: readonly Value[], id: string): ItemAddress {
    return {
      partitionKey: this.#image.partitionKeyOf?.(key, this.#container) ?? key,
      rowKey: this.#image.rowKeyOf(id, this.#container),
    };
  }

  /** Throws: operations that work on the stored JSON text are not to be had for these items. */
  refuse(operation: string): never {
    throw new DomainError(
      'invalidInput',
      `${operation} is not supported on a container of the ${this.#container.home} API.`,
    );
  }
}
