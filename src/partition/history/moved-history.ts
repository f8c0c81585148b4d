/** Tombstones and versions that a mover takes to another partition unchanged. */
import { andThen, type Bytes, type MaybePromise } from '../../base/index.ts';
import type { Entry, ReadView } from '../../engine/index.ts';
import type { Lsn } from '../item/item.ts';
import { lsnOfLogKey, PREFIX_TOMBSTONE, PREFIX_VERSION } from '../item/keyspace.ts';
import { decodeTombstone } from '../item/tombstone.ts';
import { primaryOfVersion } from '../item/version.ts';
import { scanLog } from './log-scan.ts';

/** A tombstone or a version as stored. */
export interface MovedEntry extends Entry {
  /** Primary key of its item. */
  readonly primary: Bytes;
}

export interface MovedHistory {
  readonly entries: readonly MovedEntry[];
  readonly upTo: Lsn;
  readonly more: boolean;
}

const PAGE = { limit: 1000, bytesMax: 4 * 1024 * 1024 };

/** Tombstones and versions after an LSN, in whole LSNs. */
export function historyAfter(
  view: ReadView,
  after: Lsn,
  published: Lsn,
): MaybePromise<MovedHistory> {
  const scan = { after, published, ...PAGE };
  return andThen(scanLog(view, PREFIX_TOMBSTONE, scan), (tombstones) =>
    andThen(scanLog(view, PREFIX_VERSION, scan), (versions) => {
      const upTo = Math.min(tombstones.upTo, versions.upTo);
      const isBefore = ({ key }: Entry) => lsnOfLogKey(key) <= upTo;
      const entries = [
        ...tombstones.entries
          .filter(isBefore)
          .map((entry) => ({ ...entry, primary: decodeTombstone(entry.value).primary })),
        ...versions.entries
          .filter(isBefore)
          .map((entry) => ({ ...entry, primary: primaryOfVersion(entry.value) })),
      ];
      return { entries, upTo, more: tombstones.more || versions.more };
    }),
  );
}
