/** How rows of views are stored: whole, in place of what was there. */
import { type Bytes, bufferOf } from '../../../base/index.ts';
import type { Updaters } from '../../../partition/index.ts';
import { liveRow } from '../cells/live-row.ts';
import { decodeRow } from '../cells/row-codec.ts';
import { BodyWriter } from '../wire/body-writer.ts';

/** Puts the row that the arguments are; without arguments, deletes. */
export const REPLACE = 'cassandra.replace';

/**
 * Keeps everything and replies with the item and, where it is read too, the header: as a decision sees them, rows of
 * tombstones included.
 */
export const SEE = 'cassandra.see';

export const viewUpdaters: Updaters = {
  [SEE](current) {
    const writer = new BodyWriter();
    for (const item of current) writer.bytes(item?.body ?? null);
    return { kind: 'keep', reply: writer.finish() };
  },
  [REPLACE](current, args, { nowMs }) {
    const gone =
      current[0] === undefined ? ({ kind: 'keep' } as const) : ({ kind: 'delete' } as const);
    if (args.length === 0) return gone;
    const body: Bytes = Uint8Array.from(bufferOf(args));
    const nowSec = Math.floor(nowMs / 1000);
    const live = liveRow(decodeRow(body), undefined, nowSec);
    if (live === undefined) return gone;
    const { expiresAtSec } = live;
    return { kind: 'put', body, ttlSec: expiresAtSec === 0 ? -1 : expiresAtSec - nowSec };
  },
};
