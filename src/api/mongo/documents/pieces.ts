/** Batches that take their readers some milliseconds, so that others go on meanwhile. */
import { currentSlice, type Pause, yieldToEventLoop } from '../../../query/index.ts';
import type { Row, Rows } from './rows.ts';

/** The memory of rows that a command has made and nobody has read, as far as it is known. */
export interface Holding {
  heldBytes: number;
}

interface PieceOptions {
  readonly pause?: Pause | undefined;
  /** Counts the rows that wait to be read, where they may be many. */
  readonly memory?: Holding | undefined;
  /** Rows of the first piece. */
  readonly rowsFirst?: number;
}

/** Rows of a batch at first, and their bytes; batches grow while their readers are quick. */
const PIECE_ROWS_FIRST = 16;
const PIECE_ROWS_MAX = 1000;
const PIECE_BYTES_MAX = 512 * 1024;
/** What readers may do with a batch, in milliseconds, before the next one is smaller or larger. */
const PIECE_MS_MAX = 4;
const PIECE_MS_MIN = 1;

/**
 * The same rows in batches that take their readers some milliseconds, with a pause between two. So whatever they do
 * with a row, others go on, and a command ends when its time is over.
 */
export async function* inPieces(rows: Rows, options: PieceOptions = {}): Rows {
  const { pause = yieldToEventLoop, memory, rowsFirst = PIECE_ROWS_FIRST } = options;
  let size = rowsFirst;
  for await (const batch of rows) {
    const held = memory === undefined ? undefined : new Held(batch, memory);
    try {
      for (let at = 0; at < batch.length; ) {
        const slice = currentSlice();
        const startedMs = performance.now();
        const end = endOfPiece(batch, at, size);
        const isWhole = at === 0 && end === batch.length;
        held?.handOut(at, end);
        yield isWhole ? batch : batch.slice(at, end);
        at = end;
        // Readers that wait for something let others go on meanwhile.
        const ms = (slice.endedMs ?? performance.now()) - startedMs;
        if (ms > PIECE_MS_MAX) size = Math.max(1, size >> 2);
        else if (ms < PIECE_MS_MIN && !isWhole) size = Math.min(PIECE_ROWS_MAX, 2 * size);
        const wait = pause();
        if (wait !== undefined) await wait;
      }
    } finally {
      held?.handOut(0, batch.length);
    }
  }
}

/** Bodies are counted where rows have them. */
function endOfPiece(batch: readonly Row[], from: number, size: number): number {
  const last = Math.min(batch.length, from + size);
  let bytes = 0;
  for (let at = from; at < last; at++) {
    bytes += (batch[at] as Row).storedBytes;
    if (bytes > PIECE_BYTES_MAX) return Math.max(at, from + 1);
  }
  return last;
}

/** The bytes of a batch, until they are handed out. */
class Held {
  readonly #sizes: number[];
  readonly #memory: Holding;

  constructor(batch: readonly Row[], memory: Holding) {
    this.#sizes = batch.map((row) => row.roughBytes);
    this.#memory = memory;
    for (const size of this.#sizes) memory.heldBytes += size;
  }

  handOut(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      this.#memory.heldBytes -= this.#sizes[at] as number;
      this.#sizes[at] = 0;
    }
  }
}
