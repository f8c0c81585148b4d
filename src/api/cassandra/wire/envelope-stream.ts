/** Both directions of a connection, from bytes to envelopes and back: segments of protocol 5, and compression. */
import { FrameReader, type FrameShape } from '../../../net/index.ts';
import { CqlError, protocolError } from '../errors.ts';
import { ENVELOPE_BYTES_MAX } from '../limits.ts';
import type { Compression } from './compression.ts';
import {
  ENVELOPE_HEADER_BYTES,
  type EnvelopeHeader,
  FLAGS,
  type Response,
  readEnvelopeHeader,
  VERSION_MAX,
  VERSION_MIN,
  VERSION_NAMES,
  writeEnvelope,
} from './envelope.ts';
import { LZ4_SEGMENTS, PLAIN_SEGMENTS, type SegmentFormat } from './segment.ts';

/** Shorter bodies are sent as they are: their compressed form is no smaller. */
const COMPRESSED_BYTES_MIN = 512;

/** Clients begin with the highest version they know; the refusal carries ours. */
export class VersionRefused extends CqlError {
  readonly header: EnvelopeHeader;

  constructor(header: EnvelopeHeader) {
    super(
      'protocolError',
      `Invalid or unsupported protocol version (${header.version}); supported versions are (${VERSION_NAMES.join(', ')})`,
    );
    this.header = header;
  }
}

const ENVELOPES: FrameShape = {
  headerBytes: ENVELOPE_HEADER_BYTES,
  frameBytesMax: ENVELOPE_HEADER_BYTES + ENVELOPE_BYTES_MAX,
  frameBytes(bytes) {
    const header = readEnvelopeHeader(bytes);
    if (header.isResponse || header.version < VERSION_MIN || header.version > VERSION_MAX)
      throw new VersionRefused(header);
    return ENVELOPE_HEADER_BYTES + header.length;
  },
};

interface ReceivedEnvelope {
  readonly header: EnvelopeHeader;
  /** Without compression. */
  readonly body: Buffer;
}

export class EnvelopeStream {
  readonly #outer = new FrameReader(ENVELOPES);
  /** Protocol 5: envelopes inside segments. */
  #inner: FrameReader | undefined;
  #segments: SegmentFormat = PLAIN_SEGMENTS;
  #compression: Compression | undefined;

  get partialSinceMs(): number | undefined {
    return this.#outer.partialSinceMs ?? this.#inner?.partialSinceMs;
  }

  push(chunk: Buffer): void {
    this.#outer.push(chunk);
  }

  /** The next whole envelope. Throws FrameError and CqlError: no byte that follows can be trusted. */
  next(): ReceivedEnvelope | undefined {
    const frame = this.#inner === undefined ? this.#outer.next() : this.#nextInside(this.#inner);
    return frame === undefined ? undefined : this.#received(frame);
  }

  /** From the next envelope on, in both directions. */
  begin(version: number, compression: Compression | undefined): void {
    this.#compression = compression;
    if (version < 5) return;
    if (compression !== undefined) this.#segments = LZ4_SEGMENTS;
    this.#inner = new FrameReader(ENVELOPES);
    this.#outer.switchTo(this.#segments.shape);
  }

  bytesOf(version: number, stream: number, response: Response): Buffer {
    const envelope = writeEnvelope(version, stream, response);
    if (this.#inner !== undefined) return this.#segments.write(envelope);
    return this.#compression === undefined ? envelope : compressed(envelope, this.#compression);
  }

  #nextInside(inner: FrameReader): Buffer | undefined {
    for (;;) {
      const envelope = inner.next();
      if (envelope !== undefined) return envelope;
      const segment = this.#outer.next();
      if (segment === undefined) return undefined;
      inner.push(this.#segments.payloadOf(segment));
    }
  }

  #received(frame: Buffer): ReceivedEnvelope {
    const header = readEnvelopeHeader(frame);
    const body = frame.subarray(ENVELOPE_HEADER_BYTES);
    const isCompressed = this.#inner === undefined && (header.flags & FLAGS.compressed) !== 0;
    if (!isCompressed) return { header, body };
    if (this.#compression === undefined) throw protocolError('Compression was not negotiated');
    return { header, body: this.#compression.decompress(body) };
  }
}

function compressed(envelope: Buffer, compression: Compression): Buffer {
  if (envelope.length < ENVELOPE_HEADER_BYTES + COMPRESSED_BYTES_MIN) return envelope;
  const body = compression.compress(envelope.subarray(ENVELOPE_HEADER_BYTES));
  const header = Buffer.from(envelope.subarray(0, ENVELOPE_HEADER_BYTES));
  header[1] = (header[1] as number) | FLAGS.compressed;
  header.writeInt32BE(body.length, 5);
  return Buffer.concat([header, body]);
}
