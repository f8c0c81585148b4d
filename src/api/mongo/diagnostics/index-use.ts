/** How often each index was used since the start of the process, for `$indexStats`. One count for each operation. */
import type { ContainerRecord } from '../../../catalog/index.ts';

interface Use {
  ops: number;
  sinceMs: number;
}

type Container = Pick<ContainerRecord, 'databaseRid' | 'rid'>;

/** Collections at a time. The one that was used first is forgotten. */
const CONTAINERS_MAX = 10_000;

export class IndexUse {
  readonly #startMs: number;
  readonly #byDatabase = new Map<number, Map<number, Map<number, Use>>>();
  #size = 0;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  note({ databaseRid, rid }: Container, index: number): void {
    const known = this.#byDatabase.get(databaseRid)?.get(rid)?.get(index);
    if (known !== undefined) known.ops += 1;
    else this.#usesOf(databaseRid, rid).set(index, { ops: 1, sinceMs: this.#startMs });
  }

  /** From now on: the index is new, or is hidden or shown again. */
  begin({ databaseRid, rid }: Container, index: number, nowMs: number): void {
    this.#usesOf(databaseRid, rid).set(index, { ops: 0, sinceMs: nowMs });
  }

  of({ databaseRid, rid }: Container, index: number): Readonly<Use> {
    const known = this.#byDatabase.get(databaseRid)?.get(rid)?.get(index);
    return known ?? { ops: 0, sinceMs: this.#startMs };
  }

  #usesOf(databaseRid: number, rid: number): Map<number, Use> {
    const own = this.#byDatabase.get(databaseRid) ?? new Map<number, Map<number, Use>>();
    const known = own.get(rid);
    if (known !== undefined) return known;
    if (this.#size >= CONTAINERS_MAX) this.#forgetOldest();
    this.#byDatabase.set(databaseRid, own);
    const made = new Map<number, Use>();
    own.set(rid, made);
    this.#size += 1;
    return made;
  }

  #forgetOldest(): void {
    const [[database, own] = []] = this.#byDatabase;
    if (database === undefined || own === undefined) return;
    const [oldest] = own.keys();
    if (oldest !== undefined && own.delete(oldest)) this.#size -= 1;
    if (own.size === 0) this.#byDatabase.delete(database);
  }
}
