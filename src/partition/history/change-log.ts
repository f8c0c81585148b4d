/** The changes of a partition after an LSN, in order: the latest write of every item since, and deletions. */
import { andThen, type Bytes, type MaybePromise } from '../../base/index.ts';
import type { ReadView } from '../../engine/index.ts';
import type { Lsn, Rid } from '../item/item.ts';
import { lsnAndRidOfLogKey, PREFIX_LOG, PREFIX_TOMBSTONE } from '../item/keyspace.ts';
import { decodeTombstone } from '../item/tombstone.ts';
import { type LogPage, scanLog } from './log-scan.ts';

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

const BYTES_MAX = 1024 * 1024;

/**
 * A page never ends inside an LSN, so that a command is read as a whole.
 *
 * @param published - later writes may be in the store but are not visible to readers yet.
 */
export function readChanges(
  view: ReadView,
  after: Lsn,
  published: Lsn,
  limit: number,
): MaybePromise<ChangePage> {
  const scan = { after, published, limit, bytesMax: BYTES_MAX };
  return andThen(scanLog(view, PREFIX_LOG, scan), (log) =>
    andThen(scanLog(view, PREFIX_TOMBSTONE, scan), (tombstones) => merged(log, tombstones)),
  );
}

function merged(log: LogPage, tombstones: LogPage): ChangePage {
  const upTo = Math.min(log.upTo, tombstones.upTo);
  const changes: Change[] = [];
  for (const { key } of log.entries)
    changes.push({ kind: 'write' as const, ...lsnAndRidOfLogKey(key) });
  for (const { key, value } of tombstones.entries)
    changes.push({ kind: 'delete' as const, ...lsnAndRidOfLogKey(key), ...decodeTombstone(value) });
  return {
    changes: changes.filter(({ lsn }) => lsn <= upTo).sort((a, b) => a.lsn - b.lsn),
    upTo,
    more: log.more || tombstones.more,
  };
}
