/** Whether a range of an index has an entry. A page may be without entries although the range continues. */
import { andThen, type MaybePromise } from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import type { ItemReader } from '../reader.ts';

const PAGE = { limit: 1, bytesMax: 4096 };

export function hasEntries(reader: ItemReader, range: KeyRange): MaybePromise<boolean> {
  return andThen(reader.scanIndex(range, PAGE), ({ entries, rest }) => {
    if (entries.length > 0) return true;
    return rest === undefined ? false : hasEntries(reader, rest);
  });
}
