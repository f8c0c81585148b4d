/** A client of protocol 5, which the stock driver for Node does not speak: envelopes in segments with checksums. */
import { connect, type Socket } from 'node:net';
import { BodyReader } from '../../../src/api/cassandra/wire/body-reader.ts';
import { BodyWriter } from '../../../src/api/cassandra/wire/body-writer.ts';
import {
  LZ4_SEGMENTS,
  PLAIN_SEGMENTS,
  type SegmentFormat,
} from '../../../src/api/cassandra/wire/segment.ts';
import { ACCOUNT, KEY } from './harness.ts';

const HEADER_BYTES = 9;
const VERSION = 5;

export interface RawResponse {
  readonly version: number;
  readonly opcode: number;
  readonly stream: number;
  /** Behind the warnings and the custom payload. */
  readonly body: BodyReader;
}

export class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #envelopes = Buffer.alloc(0);
  #segments: SegmentFormat | undefined;
  #wake: () => void = () => {};
  isClosed = false;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.#socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
    this.#socket.on('error', () => {});
  }

  static async login(port: number, compression?: 'lz4'): Promise<RawClient> {
    const client = new RawClient(port);
    const startup = new BodyWriter().short(compression === undefined ? 1 : 2);
    startup.string('CQL_VERSION').string('3.0.0');
    if (compression !== undefined) startup.string('COMPRESSION').string(compression);
    client.send(1, startup.finish());
    const { opcode } = await client.next();
    if (opcode !== 3) throw new Error(`no authentication: ${opcode}`);
    client.#segments = compression === 'lz4' ? LZ4_SEGMENTS : PLAIN_SEGMENTS;
    const token = Buffer.from(`\0${ACCOUNT}\0${KEY}`);
    client.send(15, new BodyWriter().bytes(token).finish());
    const answer = await client.next();
    if (answer.opcode !== 16) throw new Error(`no login: ${answer.opcode}`);
    return client;
  }

  /** Sends one envelope. */
  send(opcode: number, body: Uint8Array, stream = 7): void {
    const envelope = envelopeOf(opcode, body, stream);
    this.sendBytes(this.#segments?.write(envelope) ?? envelope);
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  async query(
    text: string,
    values: readonly (Uint8Array | null)[] = [],
    more?: { pageSize: number; state?: Uint8Array },
  ) {
    const writer = new BodyWriter();
    const bytes = Buffer.from(text);
    writer.int(bytes.length).raw(bytes).short(1);
    const flags = (values.length > 0 ? 1 : 0) | (more ? 4 : 0) | (more?.state ? 8 : 0);
    writer.int(flags);
    if (values.length > 0) {
      writer.short(values.length);
      for (const value of values) writer.bytes(value);
    }
    if (more !== undefined) writer.int(more.pageSize);
    if (more?.state !== undefined) writer.bytes(more.state);
    this.send(7, writer.finish());
    return this.next();
  }

  /** Sends PREPARE without waiting for its response. */
  prepare(text: string): void {
    const bytes = Buffer.from(text);
    this.send(9, new BodyWriter().int(bytes.length).raw(bytes).int(0).finish());
  }

  async next(): Promise<RawResponse> {
    for (;;) {
      const response = this.#take();
      if (response !== undefined) return response;
      if (this.isClosed) throw new Error('closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async closed(): Promise<void> {
    while (!this.isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(): RawResponse | undefined {
    if (this.#segments !== undefined) this.#takeSegments(this.#segments);
    else {
      this.#envelopes = Buffer.concat([this.#envelopes, this.#received]);
      this.#received = Buffer.alloc(0);
    }
    if (this.#envelopes.length < HEADER_BYTES) return undefined;
    const end = HEADER_BYTES + this.#envelopes.readInt32BE(5);
    if (this.#envelopes.length < end) return undefined;
    const envelope = this.#envelopes.subarray(0, end);
    this.#envelopes = this.#envelopes.subarray(end);
    const body = new BodyReader(envelope, HEADER_BYTES);
    const flags = envelope[1] as number;
    if ((flags & 8) !== 0) for (let left = body.short(); left > 0; left--) body.string();
    if ((flags & 4) !== 0) body.bytesMap();
    return {
      version: (envelope[0] as number) & 0x7f,
      opcode: envelope[4] as number,
      stream: envelope.readInt16BE(2),
      body,
    };
  }

  #takeSegments({ shape, payloadOf }: SegmentFormat): void {
    while (this.#received.length >= shape.headerBytes) {
      const end = shape.frameBytes(this.#received);
      if (this.#received.length < end) return;
      const payload = payloadOf(this.#received.subarray(0, end));
      this.#envelopes = Buffer.concat([this.#envelopes, payload]);
      this.#received = this.#received.subarray(end);
    }
  }
}

export function envelopeOf(
  opcode: number,
  body: Uint8Array,
  stream = 7,
  version = VERSION,
): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head[0] = version;
  head.writeInt16BE(stream, 2);
  head[4] = opcode;
  head.writeInt32BE(body.length, 5);
  return Buffer.concat([head, body]);
}
