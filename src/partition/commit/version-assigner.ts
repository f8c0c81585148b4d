/** Assigns rid, etag and timestamp to items, and finishes their bodies with them. */
import { assert, type Clock } from '../../base/index.ts';
import {
  type BodyFinisher,
  formatEtag,
  type Item,
  type ItemVersion,
  type Lsn,
  RID_COUNTER_BITS,
  type Rid,
  type Stamp,
} from '../item/item.ts';
import { newItem } from '../item/record.ts';
import { WriteTimes } from '../item/write-times.ts';
import type { PartitionState } from '../state.ts';
import { isInternal, type Mutation, type Put } from './command/write-command.ts';

interface VersionAssignerOptions {
  readonly clock: Clock;
  readonly state: PartitionState;
  readonly finisher: BodyFinisher;
  readonly etagSalt: number;
  readonly ridPrefix: number;
  /** Whether the record cache does not take a new item at its first write. */
  readonly isCacheFull: () => boolean;
}

/** The item that a put becomes. */
export function stampedItem(
  put: Put,
  stamp: Stamp,
  finisher: BodyFinisher,
  isPooled = false,
): Item {
  const { rid, version, etag, timestampSec } = stamp;
  const { ttlSec, encoding, flags } = put;
  const { primary } = put.key;
  if (isInternal(put)) {
    const { body } = put;
    return newItem({ primary, rid, version, etag, timestampSec, ttlSec, encoding, body, flags });
  }
  const body = finisher.tail === undefined ? finisher(put.body, stamp) : put.body;
  return newItem(
    { primary, rid, version, etag, timestampSec, ttlSec, encoding, body },
    { finisher, stamp, isPooled },
  );
}

export class VersionAssigner {
  readonly #options: VersionAssignerOptions;
  /** The last version, which all items of one command share. */
  #version: ItemVersion;
  #etag: string;
  readonly #times = new WriteTimes();
  /** Whether the present command is bulk: its records may share memory, since none is cached. */
  isBulk = false;

  constructor(options: VersionAssignerOptions) {
    this.#options = options;
    this.#version = { salt: options.etagSalt, lsn: 0, operation: 0 };
    this.#etag = formatEtag(this.#version);
  }

  /** @param operation - place of the write in its command, at least among the writes of the same item. */
  stamp(
    put: Put,
    previous: Item | undefined,
    at: { readonly lsn: Lsn; readonly timestampSec: number },
    operation: number,
  ): Item {
    const { clock, etagSalt, finisher, isCacheFull } = this.#options;
    if (this.#version.lsn !== at.lsn || this.#version.operation !== operation) {
      this.#version = { salt: etagSalt, lsn: at.lsn, operation };
      this.#etag = formatEtag(this.#version);
    }
    const rid = previous?.rid ?? put.rid ?? this.reserveRid();
    const { timestampSec } = at;
    // A clock that was set back does not set the times of writes back.
    const nowMs = Math.max(clock.nowMs(), timestampSec * 1000);
    const time = put.encoding === 'edm' ? this.#times.next(nowMs) : '';
    const stamp = { rid, version: this.#version, etag: this.#etag, timestampSec, time };
    const isPooled = this.isBulk || (previous === undefined && isCacheFull());
    return stampedItem(put, stamp, finisher, isPooled);
  }

  /** The item after a mutation; undefined: deleted. */
  itemAfter(
    mutation: Exclude<Mutation, { kind: 'reindex' }>,
    previous: Item | undefined,
    at: { readonly lsn: Lsn; readonly timestampSec: number },
    operation: number,
  ): Item | undefined {
    switch (mutation.kind) {
      case 'put':
        return this.stamp(mutation, previous, at, operation);
      case 'stamped':
      case 'import':
        return mutation.item;
      case 'delete':
        return undefined;
    }
  }

  /** A rid for a new item, used or not. */
  reserveRid(): Rid {
    const { state, ridPrefix } = this.#options;
    state.ridCounter++;
    assert(state.ridCounter < 2 ** RID_COUNTER_BITS, 'rid counter is used up');
    return ridPrefix * 2 ** RID_COUNTER_BITS + state.ridCounter;
  }
}
