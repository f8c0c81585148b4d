/**
 * Rows that an index names, in the order of tokens and clustering keys. The index has them in the order in which they
 * were created, so a page asks for all and keeps the first ones behind its position.
 */
import { type Bytes, bufferOf, compareBytes } from '../../../../base/index.ts';
import type { Condition, ExecutableQuery, HashRange } from '../../../../query/index.ts';
import type { Row } from '../../cells/row.ts';
import { decodeRow } from '../../cells/row-codec.ts';
import { protocolError } from '../../errors.ts';
import { INDEXED_BYTES_KEPT, SCAN_ITEMS_MAX } from '../../limits.ts';
import type { Table } from '../../schema/keyspaces.ts';
import { addressValues, encodeClustering } from '../../schema/table-keys.ts';
import type { Call } from '../plan.ts';
import { type FoundRow, foundRow, type PartitionHeader } from './found-row.ts';
import type { Position } from './paging-state.ts';
import { type RowPage, type RowSource, readHeader } from './row-source.ts';

interface Entry {
  /** The key of its item. */
  readonly primary: Bytes;
  /** The whole clustering key, because keys of items may be cut. */
  readonly rowKey: Bytes;
  readonly body: Bytes;
}

/** In order; `isCut`: more follow. */
interface Named {
  readonly entries: readonly Entry[];
  readonly isCut: boolean;
}

type EntryPosition = Pick<Entry, 'primary' | 'rowKey'>;

export class IndexedRows implements RowSource {
  readonly #table: Table;
  readonly #range: HashRange | undefined;
  readonly #condition: (call: Call) => Condition;
  #named: (Named & { next: number }) | undefined;
  #header: { readonly partition: Bytes; readonly header: PartitionHeader | undefined } | undefined;

  /** @param range - the part of the hash space that is asked for; undefined: none. */
  constructor(table: Table, range: HashRange | undefined, condition: (call: Call) => Condition) {
    this.#table = table;
    this.#range = range;
    this.#condition = condition;
  }

  async page(position: Position, limit: number, call: Call): Promise<RowPage> {
    const positionBehind = (entry: Entry): Position => ({
      ...position,
      continuation: printPosition(entry),
      key: decodeRow(entry.body).partitionKey.map(({ value }) => value),
      hasRows: true,
    });
    const found: { readonly row: FoundRow; readonly entry: Entry }[] = [];
    const behind = (row: number): Position => positionBehind(found[row]?.entry as Entry);
    if (this.#range === undefined) return { rows: [], itemCount: 0, next: undefined, behind };
    if (this.#named === undefined || this.#named.next === this.#named.entries.length)
      this.#named = { ...(await this.#ask(position, this.#range, call)), next: 0 };
    const { entries, isCut, next } = this.#named;
    const some = entries.slice(next, next + limit);
    this.#named.next += some.length;
    for (const entry of some) {
      const stored = decodeRow(entry.body);
      const header = await this.#headerOf(stored, call);
      const row = foundRow(stored, header, this.#table.schema, call.nowSec);
      if (row !== undefined) found.push({ row, entry });
    }
    const last = some.at(-1);
    const isEnd = last === undefined || (!isCut && this.#named.next === entries.length);
    return {
      rows: found.map(({ row }) => row),
      itemCount: some.length,
      next: isEnd ? undefined : positionBehind(last),
      behind,
    };
  }

  /** Rows of the rest of the partition are left out. */
  afterPartition(position: Position): Position | undefined {
    return position;
  }

  async #ask({ continuation }: Position, range: HashRange, call: Call): Promise<Named> {
    const query: ExecutableQuery = {
      condition: this.#condition(call),
      shape: {
        kind: 'streaming',
        rowsOf: (item) => [{ item, keys: [] }],
        order: undefined,
        skip: 0,
        take: Number.POSITIVE_INFINITY,
      },
    };
    const first = new FirstEntries(
      continuation === undefined ? undefined : parsePlace(continuation),
    );
    let more: string | undefined;
    do {
      const page = await call.environment.service.queries.run(this.#table.container, {
        query,
        ranges: [range],
        continuation: more,
        limit: SCAN_ITEMS_MAX,
        sessionToken: undefined,
      });
      call.spend(page.charge);
      more = page.continuation;
      for (const { item } of page.rows)
        if (item !== undefined) first.add(this.#entryOf(item.primary, item.body));
    } while (more !== undefined);
    return first.finish();
  }

  #entryOf(primary: Bytes, body: Bytes): Entry {
    const clustering = decodeRow(body).clustering.map(({ value }) => value);
    return { primary, body, rowKey: encodeClustering(this.#table.schema, clustering) };
  }

  async #headerOf(row: Row, call: Call): Promise<PartitionHeader | undefined> {
    const { schema } = this.#table;
    if (schema.clustering.length === 0) return undefined;
    const key = row.partitionKey.map(({ value }) => value);
    const partition = Buffer.concat(key.flatMap((value) => [lengthOf(value), value]));
    if (this.#header !== undefined && partition.equals(this.#header.partition))
      return this.#header.header;
    const header = await readHeader(this.#table, addressValues(schema.partitionKey, key), call);
    this.#header = { partition, header };
    return header;
  }
}

/** The first entries behind a place, as many as may be kept. */
class FirstEntries {
  readonly #after: EntryPosition | undefined;
  #entries: Entry[] = [];
  #bytes = 0;
  /** Entries behind it are not kept any more. */
  #end: Entry | undefined;

  constructor(after: EntryPosition | undefined) {
    this.#after = after;
  }

  add(entry: Entry): void {
    if (this.#after !== undefined && compareEntries(entry, this.#after) <= 0) return;
    if (this.#end !== undefined && compareEntries(entry, this.#end) > 0) return;
    this.#entries.push(entry);
    this.#bytes += entry.body.length;
    if (this.#bytes > 2 * INDEXED_BYTES_KEPT) this.#cut();
  }

  finish(): Named {
    if (this.#bytes > INDEXED_BYTES_KEPT) this.#cut();
    return { entries: this.#entries.sort(compareEntries), isCut: this.#end !== undefined };
  }

  /** Keeps at least one. */
  #cut(): void {
    this.#entries.sort(compareEntries);
    let bytes = 0;
    const count = this.#entries.findIndex(({ body }) => {
      bytes += body.length;
      return bytes > INDEXED_BYTES_KEPT;
    });
    if (count < 0 || count === this.#entries.length - 1) return;
    this.#entries.length = Math.max(1, count);
    this.#end = this.#entries.at(-1);
    this.#bytes = this.#entries.reduce((sum, { body }) => sum + body.length, 0);
  }
}

function compareEntries(a: EntryPosition, b: EntryPosition): number {
  return compareBytes(a.primary, b.primary) || compareBytes(a.rowKey, b.rowKey);
}

function lengthOf(value: Bytes): Bytes {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value.length);
  return bytes;
}

function printPosition({ primary, rowKey }: EntryPosition): string {
  return `${bufferOf(primary).toString('base64url')}.${bufferOf(rowKey).toString('base64url')}`;
}

/** Whether a page of an index ended here. Continuations of scans have no points. */
export function isIndexPlace(continuation: string): boolean {
  return continuation.includes('.');
}

/** Clients may send anything: what is no place is refused. */
function parsePlace(text: string): EntryPosition {
  const [primary, rowKey, ...rest] = text.split('.');
  if (primary === undefined || rowKey === undefined || rest.length > 0)
    throw protocolError('Invalid value for the paging state');
  return { primary: Buffer.from(primary, 'base64url'), rowKey: Buffer.from(rowKey, 'base64url') };
}
