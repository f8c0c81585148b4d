/**
 * Messages of the wire protocol, little-endian.
 *
 *   header    := length4 requestId4 responseTo4 opCode4
 *   OP_MSG    := flags4 section* checksum4?        section := 00 document | 01 size4 cString document*
 *   OP_QUERY  := flags4 cString skip4 limit4 document
 *   OP_REPLY  := flags4 cursor8 from4 count4 document*
 */
import type { Bytes } from '../../../base/index.ts';
import { BsonReader } from '../../../value/index.ts';
import { type Compressor, compressFrame, decompressFrame, OP_COMPRESSED } from './compression.ts';
import { crc32c } from './crc32c.ts';
import { HEADER_BYTES } from './frames.ts';
import { WireError } from './wire-error.ts';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;

const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;
const EXHAUST_ALLOWED = 1 << 16;
/** The bits that a server must know; the others may be ignored. */
const REQUIRED_FLAGS = 0xffff;
const CHECKSUM_BYTES = 4;
/** The reply to OP_QUERY says that the server can wait for data. */
const AWAIT_CAPABLE = 8;

export interface Message {
  readonly requestId: number;
  readonly kind: 'msg' | 'query';
  /** False for unacknowledged writes. */
  readonly wantsReply: boolean;
  /** The command. */
  readonly body: Bytes;
  /** Lists of documents that are beside the command, by name. */
  readonly sequences: ReadonlyMap<string, readonly Bytes[]>;
  /** The collection of an OP_QUERY. */
  readonly namespace: string;
  /** True where one request may get several replies. */
  readonly allowsExhaust: boolean;
  readonly hasChecksum: boolean;
  /** How the message was compressed; its reply is compressed alike. */
  readonly compressor: Compressor | undefined;
}

/**
 * Throws WireError. Documents are cut out, not read.
 * @param bytesMax - of the message inside a compressed one.
 */
export function readMessage(frame: Buffer, bytesMax: number): Message {
  if (frame.readInt32LE(12) !== OP_COMPRESSED) return readPlain(frame, undefined);
  const inside = decompressFrame(frame, bytesMax);
  return readPlain(inside.frame, inside.compressor);
}

function readPlain(frame: Buffer, compressor: Compressor | undefined): Message {
  const requestId = frame.readInt32LE(4);
  try {
    switch (frame.readInt32LE(12)) {
      case OP_MSG:
        return { requestId, kind: 'msg', namespace: '', compressor, ...readSections(frame) };
      case OP_QUERY:
        return {
          requestId,
          kind: 'query',
          wantsReply: true,
          allowsExhaust: false,
          hasChecksum: false,
          compressor,
          ...readQuery(frame),
        };
      default:
        throw new WireError('The operation is not supported; use OP_MSG.');
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError)
      throw new WireError(`The message is malformed: ${error.message}`);
    throw error;
  }
}

type Sections = Pick<
  Message,
  'wantsReply' | 'body' | 'sequences' | 'allowsExhaust' | 'hasChecksum'
>;

function readSections(frame: Buffer): Sections {
  const flags = frame.readUInt32LE(HEADER_BYTES);
  if ((flags & REQUIRED_FLAGS & ~(CHECKSUM_PRESENT | MORE_TO_COME)) !== 0)
    throw new WireError('Message has unknown required flags');
  const hasChecksum = (flags & CHECKSUM_PRESENT) !== 0;
  const end = frame.length - (hasChecksum ? CHECKSUM_BYTES : 0);
  if (hasChecksum && crc32c(frame.subarray(0, end)) !== frame.readUInt32LE(end))
    throw new WireError('OP_MSG checksum does not match contents');
  const sections = frame.subarray(0, end);
  const sequences = new Map<string, readonly Bytes[]>();
  let body: Bytes | undefined;
  let at = HEADER_BYTES + 4;
  while (at < end) {
    const kind = sections[at++];
    if (kind === 0) {
      if (body !== undefined) throw new WireError('Multiple body sections in message');
      const next = documentEnd(sections, at);
      body = sections.subarray(at, next);
      at = next;
    } else if (kind === 1) at = readSequence(sections, at, sequences);
    else throw new WireError('Unknown section kind');
  }
  if (body === undefined) throw new WireError('OP_MSG messages must have a body');
  return {
    wantsReply: (flags & MORE_TO_COME) === 0,
    allowsExhaust: (flags & EXHAUST_ALLOWED) !== 0,
    hasChecksum,
    body,
    sequences,
  };
}

function readSequence(
  sections: Buffer,
  start: number,
  into: Map<string, readonly Bytes[]>,
): number {
  const end = start + sections.readInt32LE(start);
  if (end > sections.length || end < start + 4)
    throw new WireError('A document sequence has a wrong length');
  const reader = new BsonReader(sections.subarray(0, end), start + 4);
  const name = reader.cString();
  if (into.has(name)) throw new WireError('Duplicate document sequence');
  const documents: Bytes[] = [];
  let { at } = reader;
  while (at < end) {
    const next = documentEnd(sections.subarray(0, end), at);
    documents.push(sections.subarray(at, next));
    at = next;
  }
  into.set(name, documents);
  return end;
}

function readQuery(frame: Buffer): Pick<Message, 'body' | 'sequences' | 'namespace'> {
  const reader = new BsonReader(frame, HEADER_BYTES + 4);
  const namespace = reader.cString();
  const start = reader.at + 8;
  return {
    namespace,
    body: frame.subarray(start, documentEnd(frame, start)),
    sequences: new Map(),
  };
}

function documentEnd(buffer: Buffer, at: number): number {
  return new BsonReader(buffer, at).documentEnd();
}

/** A reply: a document, and elements that are put behind its last one. */
interface ReplyParts {
  readonly document: Bytes;
  /** Whole elements without a length or an end. */
  readonly suffix: Bytes;
  /** True where another reply to the same message follows. */
  readonly hasMore: boolean;
}

interface ReplyIds {
  /** The id of this reply. */
  readonly requestId: number;
  /** The request or, in a row of replies, the reply before. */
  readonly responseTo: number;
}

/** The reply to a message, in its own operation. */
export function writeReply(to: Message, ids: ReplyIds, parts: ReplyParts): Buffer {
  const reply = to.kind === 'msg' ? writeMsg(to, ids, parts) : writeQueryReply(ids, parts);
  return to.compressor === undefined ? reply : compressFrame(reply, to.compressor);
}

function writeMsg(to: Message, ids: ReplyIds, parts: ReplyParts): Buffer {
  const start = HEADER_BYTES + 5;
  const end = start + parts.document.length + parts.suffix.length;
  const length = end + (to.hasChecksum ? CHECKSUM_BYTES : 0);
  const reply = withHeader(length, { ...ids, opCode: OP_MSG });
  const flags = (to.hasChecksum ? CHECKSUM_PRESENT : 0) | (parts.hasMore ? MORE_TO_COME : 0);
  reply.writeUInt32LE(flags, HEADER_BYTES);
  reply[HEADER_BYTES + 4] = 0;
  writeDocument(reply, start, parts);
  if (to.hasChecksum) reply.writeUInt32LE(crc32c(reply.subarray(0, end)), end);
  return reply;
}

function writeQueryReply(ids: ReplyIds, parts: ReplyParts): Buffer {
  const start = HEADER_BYTES + 20;
  const length = start + parts.document.length + parts.suffix.length;
  const reply = withHeader(length, { ...ids, opCode: OP_REPLY });
  reply.fill(0, HEADER_BYTES, start);
  reply.writeInt32LE(AWAIT_CAPABLE, HEADER_BYTES);
  reply.writeInt32LE(1, HEADER_BYTES + 16);
  writeDocument(reply, start, parts);
  return reply;
}

function writeDocument(into: Buffer, start: number, { document, suffix }: ReplyParts): void {
  into.set(document, start);
  if (suffix.length === 0) return;
  const end = start + document.length - 1;
  into.set(suffix, end);
  into[end + suffix.length] = 0;
  into.writeInt32LE(document.length + suffix.length, start);
}

function withHeader(
  length: number,
  header: { readonly requestId: number; readonly responseTo: number; readonly opCode: number },
): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  buffer.writeInt32LE(length, 0);
  buffer.writeInt32LE(header.requestId, 4);
  buffer.writeInt32LE(header.responseTo, 8);
  buffer.writeInt32LE(header.opCode, 12);
  return buffer;
}
