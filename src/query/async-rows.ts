/** Rows of programs that have to ask somebody else: for many items at once, so that asking costs little per row. */
import type { Bytes } from '../base/index.ts';
import type { Value } from '../value/index.ts';
import type { PendingItem, Row, Streaming } from './executable-query.ts';
import type { Part } from './position.ts';
import type { Candidate, ItemReader } from './reader.ts';

export interface AsyncRows {
  readonly items: readonly PendingItem[];
  /** One list per item, in order; the last may be missing where the page may end. */
  readonly rows: readonly (readonly Row[])[];
}

/**
 * Undefined at once where the program answers by itself, which is the rule.
 * @param part - where the items are, if the page can end before the last of them.
 */
export function asyncRows(
  { rowsOfMany }: Streaming,
  reader: ItemReader,
  items: readonly Candidate[],
  part?: Part,
): Promise<AsyncRows> | undefined {
  if (rowsOfMany === undefined) return undefined;
  const late = pendingItems(reader, items, part);
  return rowsOfMany(late, part !== undefined).then((rows) => ({ items: late, rows }));
}

export function pendingItems(
  reader: ItemReader,
  items: readonly Candidate[],
  part?: Part,
): readonly PendingItem[] {
  return items.map((item) => pendingItem(reader, item, item.rid === part?.from ? part.rows : 0));
}

export function pendingItem(reader: ItemReader, item: Candidate, rowsGiven = 0): PendingItem {
  return new DecodedOnceItem(reader, item, rowsGiven);
}

/** Decoded when first asked for: who sends the body elsewhere never asks. */
class DecodedOnceItem implements PendingItem {
  readonly #reader: ItemReader;
  readonly #item: Candidate;
  readonly rowsGiven: number;
  #document: Value;
  #isDecoded = false;

  constructor(reader: ItemReader, item: Candidate, rowsGiven: number) {
    this.rowsGiven = rowsGiven;
    this.#reader = reader;
    this.#item = item;
  }

  get body(): Bytes {
    return this.#item.body;
  }

  decode(): Value {
    if (!this.#isDecoded) {
      this.#document = this.#reader.decode(this.#item);
      this.#isDecoded = true;
    }
    return this.#document;
  }
}
