/** Gives items what only the committer knows: rid, etag, timestamp, and with them the body its home API returns. */
import { assert } from '../base/index.ts';
import type { Put, StampedItem } from './intent.ts';
import { formatEtag, type Item, type Lsn, RID_COUNTER_BITS, type Rid, type Seal } from './item.ts';
import { newItem } from './record.ts';
import type { PartitionState } from './state.ts';

export interface StamperOptions {
  readonly state: PartitionState;
  readonly seal: Seal;
  readonly etagSalt: number;
  readonly ridPrefix: number;
}

export class Stamper {
  readonly #options: StamperOptions;

  constructor(options: StamperOptions) {
    this.#options = options;
  }

  /** @param operation - place of the write in its intent, at least among those of the same item. */
  stamp(
    put: Put,
    previous: Item | undefined,
    at: { readonly lsn: Lsn; readonly timestampSec: number },
    operation: number,
  ): StampedItem {
    const { etagSalt, seal } = this.#options;
    const version = { salt: etagSalt, lsn: at.lsn, operation };
    const rid = previous?.rid ?? put.rid ?? this.reserveRid();
    const { timestampSec } = at;
    const stamp = { rid, version, etag: formatEtag(version), timestampSec };
    const item = newItem({
      primary: put.key.primary,
      rid,
      version,
      timestampSec,
      ttlSec: put.ttlSec,
      encoding: put.encoding,
      body: seal(put.body, stamp),
    });
    if (put.value === undefined || seal.ofValue === undefined) return { item, value: put.value };
    return { item, value: seal.ofValue(put.value, stamp) };
  }

  /** A number for a new item, used or not. */
  reserveRid(): Rid {
    const { state, ridPrefix } = this.#options;
    state.ridCounter++;
    assert(state.ridCounter < 2 ** RID_COUNTER_BITS, 'rid counter is used up');
    return ridPrefix * 2 ** RID_COUNTER_BITS + state.ridCounter;
  }
}
