/**
 * The logical time that replies carry: seconds and a number within the second. It grows with every write, so that a
 * client that has seen a time can ask for what came after it.
 */
import { type Bytes, type Clock, EMPTY_BYTES } from '../../base/index.ts';
import { BsonWriter, Extended } from '../../value/index.ts';

const HASH_BYTES = 20;

export interface LogicalTime {
  readonly high: number;
  readonly low: number;
}

export class ClusterClock {
  readonly #clock: Clock;
  #time: LogicalTime = { high: 0, low: 0 };
  /** The elements of a reply, which stay the same until the time moves. */
  #suffix: Bytes = EMPTY_BYTES;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.tick();
  }

  get time(): LogicalTime {
    return this.#time;
  }

  /** A new time, later than all before. */
  tick(): LogicalTime {
    const seconds = Math.floor(this.#clock.nowMs() / 1000);
    const { high, low } = this.#time;
    this.#time = seconds > high ? { high: seconds, low: 1 } : { high, low: low + 1 };
    this.#suffix = suffixOf(this.#time);
    return this.#time;
  }

  /** `operationTime` and `$clusterTime`, as elements without a length or an end. */
  get suffix(): Bytes {
    return this.#suffix;
  }
}

export function laterOf(a: LogicalTime, b: LogicalTime): LogicalTime {
  return b.high > a.high || (b.high === a.high && b.low > a.low) ? b : a;
}

export function timestampOf({ high, low }: LogicalTime): Extended {
  return new Extended({ kind: 'timestamp', high, low });
}

/** The signature is not checked by anybody: there is one server. */
function suffixOf(time: LogicalTime): Bytes {
  const timestamp = timestampOf(time);
  const hash = new Extended({ kind: 'binary', bytes: new Uint8Array(HASH_BYTES), subtype: 0 });
  const writer = new BsonWriter();
  const start = writer.begin();
  writer.element('operationTime', timestamp);
  writer.element(
    '$clusterTime',
    new Map<string, never>([
      ['clusterTime', timestamp as never],
      [
        'signature',
        new Map<string, unknown>([
          ['hash', hash],
          ['keyId', 0n],
        ]) as never,
      ],
    ]),
  );
  const document = writer.end(start).take();
  return document.slice(4, document.length - 1);
}
