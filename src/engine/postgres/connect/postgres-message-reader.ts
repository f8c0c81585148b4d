/** Cuts a stream of bytes into messages: one byte of code, four of length, a body. A body is copied only where it was cut. */
const HEAD_BYTES = 5;

export class MessageReader {
  readonly #onMessage: (code: number, body: Buffer) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes that are needed before there is anything to do. */
  #needed = HEAD_BYTES;

  constructor(onMessage: (code: number, body: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    const buffer = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    let at = 0;
    this.#needed = HEAD_BYTES;
    while (buffer.length - at >= HEAD_BYTES) {
      const end = at + 1 + buffer.readUInt32BE(at + 1);
      if (end > buffer.length) {
        this.#needed = end - at;
        break;
      }
      this.#onMessage(buffer[at] as number, buffer.subarray(at + HEAD_BYTES, end));
      at = end;
    }
    const rest = buffer.subarray(at);
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
  }
}

/** The columns of a DataRow. They share the memory of the chunk that they came in. */
export function readRow(body: Buffer): (Uint8Array | null)[] {
  const count = body.readInt16BE(0);
  const columns = new Array<Uint8Array | null>(count);
  let at = 2;
  for (let column = 0; column < count; column++) {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) columns[column] = null;
    else {
      columns[column] = new Uint8Array(body.buffer, body.byteOffset + at, length);
      at += length;
    }
  }
  return columns;
}

/** An ErrorResponse or NoticeResponse. The codes of the fields are PostgreSQL's. */
export interface Report {
  /** Not translated: ERROR, FATAL, PANIC, WARNING, NOTICE. */
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly detail: string | undefined;
}

export function readReport(body: Buffer): Report {
  const fields = new Map<string, string>();
  for (let at = 0; at < body.length && body[at] !== 0; ) {
    const end = body.indexOf(0, at + 1);
    fields.set(String.fromCharCode(body[at] as number), body.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return {
    severity: fields.get('V') ?? fields.get('S') ?? '',
    code: fields.get('C') ?? '',
    message: fields.get('M') ?? '',
    detail: fields.get('D'),
  };
}
