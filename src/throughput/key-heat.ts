/**
 * How the charges of the last minutes are spread over partition keys: sampled, in bounded memory.
 *
 * A request only adds its charge to a sum. When the sum passes a threshold, the request that passed it becomes a
 * sample with the weight of the whole sum. Thresholds are random, so that no pattern of requests avoids them. They
 * grow with the load, so that a busy partition takes no more samples than a quiet one. Samples are added up per
 * minute for the keys with the largest sums (the space-saving algorithm: a new key replaces the smallest one and
 * takes over its sum as uncertainty).
 */
import { type Bytes, bytesToLatin1, type Random } from '../base/index.ts';

/** The logical partition that a charge belongs to. */
export interface HeatKey {
  readonly epk: Bytes;
  /** The primary key of one of its items; undefined where only the hash is cell. */
  readonly primary: Bytes | undefined;
}

interface HotKey extends HeatKey {
  /** A lower bound of its request units. */
  readonly requestUnits: number;
  /** An estimate of the bytes of items read and written. */
  readonly bytes: number;
}

export interface HeatReport {
  /** All request units of these minutes, with those of keys that are not listed. */
  readonly requestUnits: number;
  readonly bytes: number;
  /** Hottest first. */
  readonly keys: readonly HotKey[];
}

/** Minutes that a report covers, the current one included. */
export const HEAT_MINUTES = 5;

/** Keys kept per minute. */
const KEYS_MAX = 128;

/** Samples per ten seconds that are enough. */
const SAMPLES = 500;
const WINDOW_MS = 10_000;
const MINUTE_MS = 60_000;

interface Cell extends HeatKey {
  /** The key of this cell in the map. */
  readonly text: string;
  primary: Bytes | undefined;
  requestUnits: number;
  bytes: number;
  /** The part of `requestUnits` that may belong to keys that this one replaced. */
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
  /** Request units between two samples; 0 samples every request. */
  #step = 0;
  #windowEndMs = 0;
  #windowSamples = 0;
  #windowUnits = 0;
  readonly #minutes: Minute[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Runs for every request: one addition and one comparison. */
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
        const sum = keys.get(text);
        const certain = cell.requestUnits - cell.uncertain;
        keys.set(text, {
          epk: cell.epk,
          primary: sum?.primary ?? cell.primary,
          requestUnits: (sum?.requestUnits ?? 0) + certain,
          bytes: (sum?.bytes ?? 0) + cell.bytes,
        });
      }
    }
    const hottest = [...keys.values()].sort((a, b) => b.requestUnits - a.requestUnits);
    return { requestUnits, bytes, keys: hottest };
  }

  /**
   * Takes over the samples of a partition that this one replaces: those of the keys that it owns, and a share of what
   * belongs to no listed key.
   */
  inherit(parent: KeyHeat, owns: (epk: Bytes) => boolean, share: number): void {
    for (const { number, requestUnits, bytes, cells } of parent.#minutes) {
      const minute = this.#minuteNumbered(number);
      let listed = 0;
      let listedBytes = 0;
      for (const cell of cells.values()) {
        listed += cell.requestUnits - cell.uncertain;
        listedBytes += cell.bytes;
        if (!owns(cell.epk)) continue;
        minute.requestUnits += cell.requestUnits - cell.uncertain;
        minute.bytes += cell.bytes;
        addSample(minute.cells, cell, cell.requestUnits - cell.uncertain, cell.bytes);
      }
      minute.requestUnits += Math.max(0, requestUnits - listed) * share;
      minute.bytes += Math.max(0, bytes - listedBytes) * share;
    }
  }

  #minuteNumbered(number: number): Minute {
    const found = this.#minutes.find((minute) => minute.number === number);
    if (found !== undefined) return found;
    const minute = newMinute(number);
    this.#minutes.push(minute);
    this.#minutes.sort((a, b) => a.number - b.number);
    if (this.#minutes.length > HEAT_MINUTES) this.#minutes.shift();
    return minute;
  }

  #sample(requestUnits: number, bytes: number, key: HeatKey | undefined, nowMs: number): void {
    const weight = this.#sum;
    this.#sum = 0;
    this.#adjustStep(weight, nowMs);
    this.#threshold = this.#step * (0.5 + this.#random.below(1024) / 1024);
    const minute = this.#minute(nowMs);
    // The requests that the sample represents are assumed to move as many bytes per request unit as it did.
    const movedBytes = requestUnits > 0 ? (bytes * weight) / requestUnits : 0;
    minute.requestUnits += weight;
    minute.bytes += movedBytes;
    if (key !== undefined) addSample(minute.cells, key, weight, movedBytes);
  }

  #adjustStep(weight: number, nowMs: number): void {
    if (nowMs >= this.#windowEndMs || nowMs < this.#windowEndMs - WINDOW_MS) {
      // Half as many samples as are enough mean that the load fell by half: then every request is sampled again.
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
    // After a clock was set back, samples count for the last minute.
    if (last !== undefined && last.number >= number) return last;
    const minute = newMinute(number);
    this.#minutes.push(minute);
    if (this.#minutes.length > HEAT_MINUTES) this.#minutes.shift();
    return minute;
  }
}

function newMinute(number: number): Minute {
  return { number, requestUnits: 0, bytes: 0, cells: new Map() };
}

function addSample(
  cells: Map<string, Cell>,
  key: HeatKey,
  requestUnits: number,
  bytes: number,
): void {
  const text = bytesToLatin1(key.epk);
  const cell = cells.get(text);
  if (cell !== undefined) {
    cell.requestUnits += requestUnits;
    cell.bytes += bytes;
    cell.primary ??= key.primary && Uint8Array.from(key.primary);
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
