/** What happened in a partition after an LSN: the latest write of every item since, and deletions, in order. */
import { andThen, type Bytes, type MaybePromise } from '../base/index.ts';
import type { ReadView } from '../engine/index.ts';
import type { Lsn, Rid } from './item.ts';
import { logAfter, lsnAndRidOfLogKey, PREFIX_LOG, PREFIX_TOMBSTONE } from './keyspace.ts';
import { decodeTombstone } from './tombstone.ts';

export type Change =
  | { readonly kind: 'write'; readonly lsn: Lsn; readonly rid: Rid }
  | {
      readonly kind: 'delete';
      readonly lsn: Lsn;
      readonly rid: Rid;
      readonly primary: Bytes;
      readonly timestampSec: number;
    };

export interface ChangePage {
  readonly changes: readonly Change[];
  /** Everything up to here is in this page or before it. */
  readonly upTo: Lsn;
  readonly more: boolean;
}

/** Never cuts inside one LSN, so that what was written as a whole is read as a whole. */
export function readChanges(view: ReadView, after: Lsn, limit: number): MaybePromise<ChangePage> {
  const options = { limit, bytesMax: 1024 * 1024 };
  return andThen(view.scan(logAfter(PREFIX_LOG, after), options), (log) =>
    andThen(view.scan(logAfter(PREFIX_TOMBSTONE, after), options), (tombstones) => {
      const changes: Change[] = [
        ...log.entries.map(({ key }) => ({ kind: 'write' as const, ...lsnAndRidOfLogKey(key) })),
        ...tombstones.entries.map(({ key, value }) => ({
          kind: 'delete' as const,
          ...lsnAndRidOfLogKey(key),
          ...decodeTombstone(value),
        })),
      ].sort((a, b) => a.lsn - b.lsn);
      const ends = [log, tombstones].flatMap(({ entries, more }) => {
        const last = entries.at(-1);
        return more && last !== undefined ? [lsnAndRidOfLogKey(last.key).lsn - 1] : [];
      });
      if (ends.length === 0) return { changes, upTo: changes.at(-1)?.lsn ?? after, more: false };
      const upTo = Math.min(...ends);
      return { changes: changes.filter(({ lsn }) => lsn <= upTo), upTo, more: true };
    }),
  );
}
