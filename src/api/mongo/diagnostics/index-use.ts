/** How often each index was used since the start of the process, for `$indexStats`. One count for each operation. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import { CollectionMap } from './collection-map.ts';

interface Use {
  ops: number;
  sinceMs: number;
}

type Container = Pick<ContainerRecord, 'databaseRid' | 'rid'>;

export class IndexUse {
  readonly #startMs: number;
  /** By rids. */
  readonly #uses = new CollectionMap<number, Map<number, Use>>(() => new Map());

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  note({ databaseRid, rid }: Container, index: number): void {
    const known = this.#uses.get(databaseRid, rid)?.get(index);
    if (known !== undefined) known.ops += 1;
    else this.#uses.getOrMake(databaseRid, rid).set(index, { ops: 1, sinceMs: this.#startMs });
  }

  /** From now on: the index is new, or is hidden or shown again. */
  begin({ databaseRid, rid }: Container, index: number, nowMs: number): void {
    this.#uses.getOrMake(databaseRid, rid).set(index, { ops: 0, sinceMs: nowMs });
  }

  of({ databaseRid, rid }: Container, index: number): Readonly<Use> {
    const known = this.#uses.get(databaseRid, rid)?.get(index);
    return known ?? { ops: 0, sinceMs: this.#startMs };
  }
}
