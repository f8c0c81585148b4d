/** Reads of one store, on the live state or inside a read transaction: that is the business of `execute`. */
import { type Bytes, keyAfter } from '../../../base/index.ts';
import { checkKey, checkPrefix, checkScan } from '../../checks.ts';
import type {
  Entry,
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ScanOptions,
  ScanPage,
} from '../../engine.ts';
import { int8, readLatin1Array } from '../connect/postgres-messages.ts';
import type { StoreStatements } from '../postgres-statements.ts';
import { type Execute, GatheredGets } from './postgres-gets.ts';

/** Entries of one statement; a larger page takes several. */
const ENTRIES_MAX = 1000;
const KEYS_MAX = 10_000;

/** The page takes more than one statement, and nothing holds the state between them. */
export class ManyStatements extends Error {
  override readonly name = 'ManyStatements';
}

export class PostgresReader {
  readonly #statements: StoreStatements;
  readonly #execute: Execute;
  /** All statements see one state. */
  readonly #isOneState: boolean;
  readonly #gets: GatheredGets;
  readonly #dereferences = new Map<number, GatheredGets>();

  constructor(statements: StoreStatements, execute: Execute, isOneState: boolean) {
    this.#statements = statements;
    this.#execute = execute;
    this.#isOneState = isOneState;
    const { get: one, getMany: many } = statements;
    this.#gets = new GatheredGets({ one, many, more: [] }, execute);
  }

  get(key: Bytes): Promise<Bytes | undefined> {
    checkKey(key);
    return this.#gets.get(key);
  }

  getMany(keys: readonly Bytes[]): Promise<readonly (Bytes | undefined)[]> {
    for (const key of keys) checkKey(key);
    return this.#gets.getMany(keys);
  }

  dereference(key: Bytes, prefix: number): Promise<Bytes | undefined> {
    checkKey(key);
    return this.#dereferencing(prefix).get(key);
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): Promise<readonly (Bytes | undefined)[]> {
    for (const key of keys) checkKey(key);
    return this.#dereferencing(prefix).getMany(keys);
  }

  /** Rejects with ManyStatements where the page takes several and they would see different states. */
  async scan(range: KeyRange, options: ScanOptions): Promise<ScanPage> {
    checkScan(range, options);
    const { limit, bytesMax, dereference } = options;
    const entries: Entry[] = [];
    let bytes = 0;
    for (let rest: KeyRange | undefined = range; rest !== undefined; ) {
      const wanted = Math.min(limit - entries.length + 1, ENTRIES_MAX);
      const rows = await this.#rows(rest, options, wanted);
      for (const [key, inline] of rows as [Bytes, Bytes | null][]) {
        if (entries.length === limit || bytes >= bytesMax) return { entries, more: true };
        const value = inline ?? (await this.#largeValue(key, dereference));
        entries.push({ key, value });
        bytes += key.length + value.length;
      }
      if (rows.length < wanted) return { entries, more: false };
      this.#checkState();
      const last = entries.at(-1)?.key as Bytes;
      rest = options.reverse === true ? { ...rest, end: last } : { ...rest, start: keyAfter(last) };
    }
    return { entries, more: false };
  }

  async scanKeys(range: KeyRange, options: KeyScanOptions): Promise<KeyPage> {
    checkScan(range, options);
    const { limit, bytesMax, reverse = false } = options;
    const keys: string[] = [];
    let bytes = 0;
    for (let rest = range; ; ) {
      const wanted = Math.min(limit - keys.length + 1, KEYS_MAX);
      const parameters = [rest.start, int8(wanted), ...(rest.end === undefined ? [] : [rest.end])];
      const statement = this.#scans(reverse, rest).keys;
      const { rows } = await this.#execute({ statement, parameters });
      const list = rows[0]?.[0]?.[0];
      const found = list === null || list === undefined ? [] : readLatin1Array(list);
      for (const key of found) {
        if (keys.length === limit || bytes >= bytesMax) return { keys, more: true };
        keys.push(key);
        bytes += key.length;
      }
      if (found.length < wanted) return { keys, more: false };
      this.#checkState();
      const last = Buffer.from(keys.at(-1) as string, 'latin1');
      rest = reverse ? { ...rest, end: last } : { ...rest, start: keyAfter(last) };
    }
  }

  async #rows(range: KeyRange, { reverse = false, dereference }: ScanOptions, wanted: number) {
    const scans = this.#scans(reverse, range);
    const statement = dereference === undefined ? scans.entries : scans.dereferenced;
    const parameters: Uint8Array[] = [range.start, int8(wanted)];
    if (range.end !== undefined) parameters.push(range.end);
    if (dereference !== undefined) parameters.push(Uint8Array.of(dereference));
    const { rows } = await this.#execute({ statement, parameters });
    return rows[0] ?? [];
  }

  async #largeValue(key: Bytes, dereference: number | undefined): Promise<Bytes> {
    this.#checkState();
    const value =
      dereference === undefined ? this.get(key) : this.#dereferencing(dereference).get(key);
    return (await value) as Bytes;
  }

  #checkState(): void {
    if (!this.#isOneState) throw new ManyStatements('the page takes more than one statement');
  }

  #scans(reverse: boolean, { end }: KeyRange): StoreStatements['up'] {
    const { up, upToEnd, down, downFromEnd } = this.#statements;
    if (reverse) return end === undefined ? down : downFromEnd;
    return end === undefined ? up : upToEnd;
  }

  #dereferencing(prefix: number): GatheredGets {
    checkPrefix(prefix);
    let gets = this.#dereferences.get(prefix);
    if (gets === undefined) {
      const { dereference: one, dereferenceMany: many } = this.#statements;
      const more = [Uint8Array.of(prefix)];
      gets = new GatheredGets({ one, many, more }, this.#execute);
      this.#dereferences.set(prefix, gets);
    }
    return gets;
  }
}
