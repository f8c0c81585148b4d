/**
 * Pages of one of a partition's logs. A page holds whole LSNs, so that a command is read as a whole and a position
 * between two pages is an LSN.
 */
import { isPromise, type MaybePromise } from '../../base/index.ts';
import type { Entry, ReadView } from '../../engine/index.ts';
import type { Lsn } from '../item/item.ts';
import { type LogPrefix, logAfter, lsnOfLogKey } from '../item/keyspace.ts';

interface LogScan {
  readonly after: Lsn;
  /** Entries after this LSN are left out, because they are not published yet. */
  readonly published: Lsn;
  /** Entries of a page; exceeded only where one LSN has more. */
  readonly limit: number;
  readonly bytesMax: number;
}

export interface LogPage {
  readonly entries: readonly Entry[];
  /** Everything up to here is in this page or before it. */
  readonly upTo: Lsn;
  readonly more: boolean;
}

export function scanLog(view: ReadView, prefix: LogPrefix, scan: LogScan): MaybePromise<LogPage> {
  const { after, limit, bytesMax } = scan;
  const page = view.scan(logAfter(prefix, after), { limit: limit + 1, bytesMax });
  return isPromise(page)
    ? page.then((found) => wholeLsns(view, prefix, scan, found))
    : wholeLsns(view, prefix, scan, page);
}

function wholeLsns(
  view: ReadView,
  prefix: LogPrefix,
  scan: LogScan,
  { entries, more }: { readonly entries: readonly Entry[]; readonly more: boolean },
): MaybePromise<LogPage> {
  const { published, limit } = scan;
  const last = entries.at(-1);
  if (last === undefined) return { entries, upTo: published, more: false };
  const lastLsn = lsnOfLogKey(last.key);
  if (lastLsn > published || (!more && entries.length <= limit)) {
    const visible = entries.filter(({ key }) => lsnOfLogKey(key) <= published);
    if (visible.length <= limit) return { entries: visible, upTo: published, more: false };
  }
  // The last LSN of the page may continue on the next one.
  const cutAt = Math.min(lastLsn, published + 1);
  const whole = entries.filter(({ key }) => lsnOfLogKey(key) < cutAt);
  const end = whole.at(-1);
  if (end !== undefined) return { entries: whole, upTo: lsnOfLogKey(end.key), more: true };
  return scanLog(view, prefix, { ...scan, limit: limit * 2 + 1, bytesMax: scan.bytesMax * 2 });
}
