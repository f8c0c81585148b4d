/**
 * The byte forms of one partition key component, exactly as in the reference service and its clients:
 * the hash decides in which partition an item is, and clients compute it too.
 *
 *   for hashing     undefined 00, null 01, false 02, true 03
 *                   number    05, IEEE 754 double, little-endian
 *                   text      08, UTF-8, then FF (V2) or 00 (V1, which sees the first 100 characters only)
 *   V1, behind the hash, order-preserving
 *                   number    05, the sortable 64 bits: 8 bits, then groups of 7 bits with a 1 behind each but the last
 *                   text      08, every byte plus 1, then 00; of more than 100 bytes the first 101, without 00
 *                   others    as for hashing
 *
 * Arrays and objects count as undefined. Kinds of other APIs are written as their key (tuple.ts), in both forms.
 */
import type { Bytes } from '../base/index.ts';
import { KeyWriter } from './key/key-writer.ts';
import { toDouble } from './key/number-key.ts';
import { Extended, isNumeric, type Value } from './value.ts';

const UNDEFINED = 0x00;
const NULL = 0x01;
const FALSE = 0x02;
const TRUE = 0x03;
const NUMBER = 0x05;
const TEXT = 0x08;

const V1_TEXT_LENGTH_MAX = 100;
const V1_TEXT_BYTES_MAX = 100;
/** The bits of NaN in the reference service; JavaScript's own have the sign cleared. */
const NAN_HIGH = 0xfff80000;

/** Bytes under construction; only the first `length` are valid. */
export interface Draft {
  bytes: Buffer;
  length: number;
}

/** Gives the bits of a double. It is written and read at once, so no state remains between calls. */
const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

export function putForHashing(draft: Draft, component: Value, version: 1 | 2): void {
  if (typeof component === 'string') {
    reserve(draft, component.length * 3 + 2);
    draft.bytes[draft.length++] = TEXT;
    putText(draft, version === 1 ? component.slice(0, V1_TEXT_LENGTH_MAX) : component);
    draft.bytes[draft.length++] = version === 1 ? 0x00 : 0xff;
  } else if (isNumeric(component)) {
    reserve(draft, 9);
    draft.bytes[draft.length++] = NUMBER;
    setDouble(toDouble(component));
    draft.length = draft.bytes.writeUInt32LE(halves[0] as number, draft.length);
    draft.length = draft.bytes.writeUInt32LE(halves[1] as number, draft.length);
  } else putOther(draft, component);
}

export function putForV1(draft: Draft, component: Value): void {
  if (typeof component === 'string') putTextV1(draft, component.slice(0, V1_TEXT_LENGTH_MAX));
  else if (isNumeric(component)) putNumberV1(draft, toDouble(component));
  else putOther(draft, component);
}

/** At most eleven bytes. */
export function putNumberV1(draft: Draft, value: number): void {
  reserve(draft, 11);
  setDouble(value);
  let low = halves[0] as number;
  let high = halves[1] as number;
  if (high < 0x80000000) high ^= 0x80000000;
  else {
    low = -low >>> 0;
    high = low === 0 ? -high : ~high;
  }
  const bytes = draft.bytes;
  bytes[draft.length++] = NUMBER;
  bytes[draft.length++] = high >>> 24;
  high = (high << 8) | (low >>> 24);
  low <<= 8;
  for (;;) {
    const group = (high >>> 24) | 1;
    high = (high << 7) | (low >>> 25);
    low <<= 7;
    if (high === 0 && low === 0) {
      bytes[draft.length++] = group & 0xfe;
      return;
    }
    bytes[draft.length++] = group;
  }
}

function putTextV1(draft: Draft, text: string): void {
  reserve(draft, text.length * 3 + 2);
  draft.bytes[draft.length++] = TEXT;
  const start = draft.length;
  putText(draft, text);
  const isWhole = draft.length - start <= V1_TEXT_BYTES_MAX;
  if (!isWhole) draft.length = start + V1_TEXT_BYTES_MAX + 1;
  // No byte of UTF-8 is FF, so the sum never overflows.
  for (let at = start; at < draft.length; at++) (draft.bytes[at] as number)++;
  if (isWhole) draft.bytes[draft.length++] = 0x00;
}

function putOther(draft: Draft, component: Value): void {
  if (component instanceof Extended) {
    const key = new KeyWriter().value(component).take();
    reserve(draft, key.length);
    draft.bytes.set(key, draft.length);
    draft.length += key.length;
    return;
  }
  reserve(draft, 1);
  draft.bytes[draft.length++] = singleByte(component);
}

function singleByte(component: Value): number {
  if (component === null) return NULL;
  if (component === true) return TRUE;
  return component === false ? FALSE : UNDEFINED;
}

/** The space must be reserved. For short ASCII text, the usual case, a loop over characters is faster. */
function putText(draft: Draft, text: string): void {
  const { bytes } = draft;
  let end = draft.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) {
      draft.length += bytes.write(text, draft.length, 'utf8');
      return;
    }
    bytes[end++] = code;
  }
  draft.length = end;
}

function setDouble(value: number): void {
  double[0] = value;
  if (Number.isNaN(value)) halves[1] = NAN_HIGH;
}

function reserve(draft: Draft, count: number): void {
  if (draft.length + count <= draft.bytes.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(draft.length + count, draft.bytes.length * 2));
  larger.set(draft.bytes.subarray(0, draft.length));
  draft.bytes = larger;
}

/** A copy of the valid bytes. */
export function finished(draft: Draft): Bytes {
  const bytes = Buffer.allocUnsafe(draft.length);
  draft.bytes.copy(bytes, 0, 0, draft.length);
  return bytes;
}
