/** The envelope of the native protocol: nine bytes of header, then the body. */
import { type Bytes, concatBytes } from '../../../base/index.ts';
import { BodyWriter } from './body-writer.ts';

export const ENVELOPE_HEADER_BYTES = 9;

export const VERSION_MIN = 3;
export const VERSION_MAX = 5;
export const VERSION_NAMES: readonly string[] = ['3/v3', '4/v4', '5/v5'];

const RESPONSE = 0x80;

export const OPCODES = {
  error: 0x00,
  startup: 0x01,
  ready: 0x02,
  authenticate: 0x03,
  options: 0x05,
  supported: 0x06,
  query: 0x07,
  result: 0x08,
  prepare: 0x09,
  execute: 0x0a,
  register: 0x0b,
  event: 0x0c,
  batch: 0x0d,
  authChallenge: 0x0e,
  authResponse: 0x0f,
  authSuccess: 0x10,
} as const;

export const FLAGS = {
  compressed: 0x01,
  tracing: 0x02,
  customPayload: 0x04,
  warning: 0x08,
} as const;

export interface EnvelopeHeader {
  /** As sent, without the bit of a response. */
  readonly version: number;
  readonly isResponse: boolean;
  readonly flags: number;
  readonly stream: number;
  readonly opcode: number;
  readonly length: number;
}

export function readEnvelopeHeader(bytes: Buffer, at = 0): EnvelopeHeader {
  const version = bytes.readUInt8(at);
  return {
    version: version & 0x7f,
    isResponse: (version & RESPONSE) !== 0,
    flags: bytes.readUInt8(at + 1),
    stream: bytes.readInt16BE(at + 2),
    opcode: bytes.readUInt8(at + 4),
    length: bytes.readInt32BE(at + 5),
  };
}

export interface Response {
  readonly opcode: number;
  readonly body: Bytes;
  /** Named bytes beside the body; protocol 4 and later. */
  readonly payload?: ReadonlyMap<string, Bytes>;
  readonly warnings?: readonly string[];
  /** A uuid: the session of system_traces. */
  readonly tracingId?: string | undefined;
}

/** A response as it is sent: header, warnings and payload, body. */
export function writeEnvelope(version: number, stream: number, response: Response): Buffer {
  const { opcode, body, payload, warnings, tracingId } = response;
  const writer = new BodyWriter(ENVELOPE_HEADER_BYTES + 64);
  const hasWarnings = version >= 4 && warnings !== undefined && warnings.length > 0;
  const hasPayload = version >= 4 && payload !== undefined;
  writer.byte(version | RESPONSE);
  writer.byte(
    (hasWarnings ? FLAGS.warning : 0) |
      (hasPayload ? FLAGS.customPayload : 0) |
      (tracingId === undefined ? 0 : FLAGS.tracing),
  );
  writer
    .short(stream & 0xffff)
    .byte(opcode)
    .int(0);
  if (tracingId !== undefined) writer.raw(Buffer.from(tracingId.replaceAll('-', ''), 'hex'));
  if (hasWarnings) writer.stringList(warnings);
  if (hasPayload) {
    writer.short(payload.size);
    for (const [name, bytes] of payload) writer.string(name).bytes(bytes);
  }
  writer.patchInt(5, writer.length - ENVELOPE_HEADER_BYTES + body.length);
  return concatBytes(writer.finish(), body) as Buffer;
}
