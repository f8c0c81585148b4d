/**
 * Cuts a stream of bytes into frames: a header of fixed length that says how long the whole frame is. Bytes are copied
 * only for frames that arrive in pieces, and memory is taken for bytes that have arrived, never for announced ones.
 */
import { assert } from '../base/index.ts';

/** The first memory of a frame in pieces; it doubles as bytes arrive. */
const PARTIAL_BYTES_MIN = 4096;

export interface FrameShape {
  readonly headerBytes: number;
  /** The most bytes of a frame, header included. */
  readonly frameBytesMax: number;
  /** The length of the whole frame, header included. May throw FrameError where the header is none of this protocol. */
  frameBytes(header: Buffer): number;
}

/** The client's bytes make no frame: none that follow can be trusted. The protocol answers, if it can, and ends. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly kind: 'invalid' | 'tooLong';

  constructor(kind: FrameError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

export class FrameReader {
  #shape: FrameShape;
  /** Bytes that no frame has taken yet, from `#at` on. */
  #chunk: Buffer | undefined;
  #at = 0;
  /** A frame that has arrived in part: its bytes so far, and its length where the header is complete. */
  #partial: Buffer | undefined;
  #partialBytes = 0;
  #frameBytes: number | undefined;
  #partialSinceMs: number | undefined;

  constructor(shape: FrameShape) {
    this.#shape = shape;
  }

  /** When the incomplete frame began to arrive, by `performance.now()`; undefined where there is none. */
  get partialSinceMs(): number | undefined {
    return this.#partialSinceMs;
  }

  /** True where `next` has bytes to look at. */
  get hasMore(): boolean {
    return this.#chunk !== undefined;
  }

  /** Adds bytes. Call `next` until it returns undefined, or pause the socket. */
  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunk =
      this.#chunk === undefined ? chunk : Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
    this.#at = 0;
  }

  /** The following frames have another shape. Must be called between two frames. */
  switchTo(shape: FrameShape): void {
    assert(this.#partial === undefined, 'the shape changes between two frames');
    this.#shape = shape;
  }

  /** The next complete frame, which may be kept. Throws FrameError. */
  next(): Buffer | undefined {
    if (this.#partial !== undefined) return this.#continue(this.#partial);
    const chunk = this.#chunk;
    if (chunk === undefined) return undefined;
    const left = chunk.length - this.#at;
    if (left < this.#shape.headerBytes) return this.#begin(undefined);
    const frameBytes = this.#measure(chunk.subarray(this.#at, this.#at + this.#shape.headerBytes));
    return left < frameBytes ? this.#begin(frameBytes) : this.#take(frameBytes);
  }

  #begin(frameBytes: number | undefined): undefined {
    const rest = this.#take((this.#chunk as Buffer).length - this.#at);
    this.#partial = Buffer.allocUnsafe(Math.max(rest.length, PARTIAL_BYTES_MIN));
    this.#partialBytes = rest.copy(this.#partial);
    this.#frameBytes = frameBytes;
    this.#partialSinceMs = performance.now();
    return undefined;
  }

  #continue(partial: Buffer): Buffer | undefined {
    if (this.#frameBytes === undefined) {
      const { headerBytes } = this.#shape;
      if (!this.#fill(headerBytes)) return undefined;
      this.#frameBytes = this.#measure(partial.subarray(0, headerBytes));
    }
    const frameBytes = this.#frameBytes;
    if (!this.#fill(frameBytes)) return undefined;
    const frame = (this.#partial as Buffer).subarray(0, frameBytes);
    this.#partial = undefined;
    this.#frameBytes = undefined;
    this.#partialSinceMs = undefined;
    return frame;
  }

  /** Moves bytes to the incomplete frame until it has so many; false where they have not arrived. */
  #fill(bytes: number): boolean {
    const chunk = this.#chunk;
    if (chunk !== undefined && this.#partialBytes < bytes) {
      const piece = this.#take(Math.min(bytes - this.#partialBytes, chunk.length - this.#at));
      piece.copy(this.#withSpaceFor(piece.length, bytes), this.#partialBytes);
      this.#partialBytes += piece.length;
    }
    return this.#partialBytes >= bytes;
  }

  #withSpaceFor(more: number, bytesMax: number): Buffer {
    const partial = this.#partial as Buffer;
    const needed = this.#partialBytes + more;
    if (needed <= partial.length) return partial;
    const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(bytesMax, 2 * partial.length)));
    partial.copy(grown, 0, 0, this.#partialBytes);
    this.#partial = grown;
    return grown;
  }

  #take(bytes: number): Buffer {
    const chunk = this.#chunk as Buffer;
    const end = this.#at + bytes;
    const taken = chunk.subarray(this.#at, end);
    this.#at = end;
    if (end === chunk.length) this.#chunk = undefined;
    return taken;
  }

  #measure(header: Buffer): number {
    const { headerBytes, frameBytesMax } = this.#shape;
    const bytes = this.#shape.frameBytes(header);
    if (!Number.isSafeInteger(bytes) || bytes < headerBytes)
      throw new FrameError('invalid', `A frame cannot have ${bytes} bytes.`);
    if (bytes > frameBytesMax)
      throw new FrameError('tooLong', `A frame has at most ${frameBytesMax} bytes, not ${bytes}.`);
    return bytes;
  }
}
