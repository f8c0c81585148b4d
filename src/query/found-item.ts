/** Items as dialects get them: identity, version and stored body. The value is decoded when a dialect asks for it. */
import { type Bytes, bytesToText } from '../base/index.ts';
import type { Value } from '../value/index.ts';
import type { Candidate, ItemReader } from './reader.ts';

export interface FoundItem extends Candidate {
  /** The decoded body. It is kept until the item is a row of a page: after that, every call decodes. */
  value(): Value;
  /** The body as text, for encodings that are text. */
  text(): string;
}

/** An item whose rows are made later or in another thread. */
export interface PendingItem extends FoundItem {
  /** How many of its rows were in earlier pages. */
  readonly rowsGiven: number;
}

/** An item of a partition. A query that sends bodies to another thread, or whole items, never decodes it. */
export class ReadItem implements PendingItem {
  readonly #reader: Pick<ItemReader, 'decode'>;
  readonly #item: Candidate;
  readonly rowsGiven: number;
  #value: Value;
  #text: string | undefined;

  constructor(reader: Pick<ItemReader, 'decode'>, item: Candidate, rowsGiven = 0) {
    this.#reader = reader;
    this.#item = item;
    this.rowsGiven = rowsGiven;
  }

  get rid(): number {
    return this.#item.rid;
  }

  get primary(): Bytes {
    return this.#item.primary;
  }

  get version(): Candidate['version'] {
    return this.#item.version;
  }

  get timestampSec(): number {
    return this.#item.timestampSec;
  }

  get body(): Bytes {
    return this.#item.body;
  }

  value(): Value {
    // No stored body is undefined.
    this.#value ??= this.#reader.decode(this.#item);
    return this.#value;
  }

  text(): string {
    this.#text ??= bytesToText(this.#item.body);
    return this.#text;
  }

  /** Frees the memory of the value: a whole page of items waits to be sent, mostly as their bodies. */
  dropValue(): void {
    this.#value = undefined;
  }
}

/** An item outside of a partition: all that is known of it is its value and maybe its body. */
export function looseItem(known: {
  readonly value: () => Value;
  readonly body?: Bytes;
  readonly rowsGiven?: number;
}): PendingItem {
  const item = { ...LOOSE, body: known.body ?? LOOSE.body };
  return new ReadItem({ decode: known.value }, item, known.rowsGiven);
}

const LOOSE: Candidate = {
  rid: 0,
  primary: new Uint8Array(),
  version: { salt: 0, lsn: 0, operation: 0 },
  timestampSec: 0,
  body: new Uint8Array(),
};
