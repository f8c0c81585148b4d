/**
 * Which partition keys the work of a partition goes to, over the last minutes: sampled, in bounded memory.
 *
 * A request only adds its charge to a sum. Each time the sum passes a threshold the request that brought it there stands
 * for all of it; thresholds vary at random, so that no pattern of requests hides from them, and grow with the traffic,
 * so that a busy partition takes no more samples than a quiet one has requests. Samples are summed up per minute for the
 * keys that have most (space saving: a new key takes the place of the least, and what that had is its uncertainty).
 */
import { type Bytes, bytesToLatin1, type Random } from '../base/index.ts';

/** Whose charge it is. */
export interface HeatKey {
  readonly epk: Bytes;
  /** Of one of its items; undefined where only the hash is known. */
  readonly primary: Bytes | undefined;
}

interface HotKey extends HeatKey {
  /** Request units, at least. */
  readonly requestUnits: number;
  /** Bytes of the items read and written, about. */
  readonly bytes: number;
}

export interface HeatReport {
  /** All request units of the time, of these keys and of others. */
  readonly requestUnits: number;
  readonly bytes: number;
  /** Hottest first. */
  readonly keys: readonly HotKey[];
}

/** Minutes that are told of, the present one among them. */
export const HEAT_MINUTES = 5;

/** Keys remembered of each minute. */
const KEYS_MAX = 128;

/** Samples of ten seconds that are enough. */
const SAMPLES = 500;
const WINDOW_MS = 10_000;
const MINUTE_MS = 60_000;

interface Cell extends HeatKey {
  /** Its place in the map. */
  readonly text: string;
  primary: Bytes | undefined;
  requestUnits: number;
  bytes: number;
  /** What may be of keys that were here before. */
  uncertain: number;
}

interface Minute {
  number: number;
  requestUnits: number;
  bytes: number;
  readonly cells: Map<string, Cell>;
}

export class KeyHeat {
  readonly #random: Random;
  /** Request units since the last sample. */
  #sum = 0;
  #threshold = 0;
  /** Request units between two samples; 0: every request is one. */
  #step = 0;
  #windowEndMs = 0;
  #windowSamples = 0;
  #windowUnits = 0;
  readonly #minutes: Minute[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** What every request does: an addition and a comparison. */
  add(requestUnits: number, bytes: number, key: HeatKey | undefined, nowMs: number): void {
    this.#sum += requestUnits;
    if (this.#sum > this.#threshold) this.#sample(requestUnits, bytes, key, nowMs);
  }

  report(nowMs: number): HeatReport {
    const oldest = Math.floor(nowMs / MINUTE_MS) - HEAT_MINUTES + 1;
    const keys = new Map<string, HotKey & { requestUnits: number; bytes: number }>();
    let requestUnits = 0;
    let bytes = 0;
    for (const minute of this.#minutes) {
      if (minute.number < oldest) continue;
      requestUnits += minute.requestUnits;
      bytes += minute.bytes;
      for (const [text, cell] of minute.cells) {
        const known = keys.get(text);
        const certain = cell.requestUnits - cell.uncertain;
        keys.set(text, {
          epk: cell.epk,
          primary: known?.primary ?? cell.primary,
          requestUnits: (known?.requestUnits ?? 0) + certain,
          bytes: (known?.bytes ?? 0) + cell.bytes,
        });
      }
    }
    const hottest = [...keys.values()].sort((a, b) => b.requestUnits - a.requestUnits);
    return { requestUnits, bytes, keys: hottest };
  }

  #sample(requestUnits: number, bytes: number, key: HeatKey | undefined, nowMs: number): void {
    const weight = this.#sum;
    this.#sum = 0;
    this.#pace(weight, nowMs);
    this.#threshold = this.#step * (0.5 + this.#random.below(1024) / 1024);
    const minute = this.#minute(nowMs);
    // The requests that this one stands for moved as many bytes per request unit as it did.
    const moved = requestUnits > 0 ? (bytes * weight) / requestUnits : 0;
    minute.requestUnits += weight;
    minute.bytes += moved;
    if (key !== undefined) note(minute.cells, key, weight, moved);
  }

  #pace(weight: number, nowMs: number): void {
    if (nowMs >= this.#windowEndMs || nowMs < this.#windowEndMs - WINDOW_MS) {
      // With half as many samples as are enough, the traffic has fallen by half: then every request counts again.
      this.#step = this.#windowSamples >= SAMPLES / 2 ? this.#windowUnits / SAMPLES : 0;
      this.#windowEndMs = nowMs + WINDOW_MS;
      this.#windowSamples = 0;
      this.#windowUnits = 0;
    }
    this.#windowSamples++;
    this.#windowUnits += weight;
    if (this.#windowSamples % (2 * SAMPLES) === 0)
      this.#step = Math.max(4 * this.#step, (4 * this.#windowUnits) / this.#windowSamples);
  }

  #minute(nowMs: number): Minute {
    const number = Math.floor(nowMs / MINUTE_MS);
    const last = this.#minutes.at(-1);
    // A clock that was set back adds to the last minute.
    if (last !== undefined && last.number >= number) return last;
    const minute = { number, requestUnits: 0, bytes: 0, cells: new Map<string, Cell>() };
    this.#minutes.push(minute);
    if (this.#minutes.length > HEAT_MINUTES) this.#minutes.shift();
    return minute;
  }
}

function note(cells: Map<string, Cell>, key: HeatKey, requestUnits: number, bytes: number): void {
  const text = bytesToLatin1(key.epk);
  const known = cells.get(text);
  if (known !== undefined) {
    known.requestUnits += requestUnits;
    known.bytes += bytes;
    known.primary ??= key.primary && Uint8Array.from(key.primary);
    return;
  }
  let uncertain = 0;
  if (cells.size >= KEYS_MAX) {
    const least = leastOf(cells);
    uncertain = least.requestUnits;
    cells.delete(least.text);
  }
  cells.set(text, {
    text,
    epk: Uint8Array.from(key.epk),
    primary: key.primary && Uint8Array.from(key.primary),
    requestUnits: requestUnits + uncertain,
    bytes,
    uncertain,
  });
}

function leastOf(cells: Map<string, Cell>): Cell {
  let least: Cell | undefined;
  for (const cell of cells.values())
    if (least === undefined || cell.requestUnits < least.requestUnits) least = cell;
  return least as Cell;
}
