/** A connection to a protocol of bytes in this process, and its messages cut from the stream. */
import type { ByteConnection, ByteProtocol } from '../../net/index.ts';

/** The length of the message that begins here; undefined while its head is not complete. */
type LengthOf = (bytes: Buffer) => number | undefined;

export class BytePipe implements Disposable {
  readonly #connection: ByteConnection;
  readonly #lengthOf: LengthOf;
  #received = Buffer.alloc(0);
  #waiting: { resolve(message: Buffer): void; reject(error: Error): void } | undefined;
  #isEnded = false;

  constructor(protocol: ByteProtocol, lengthOf: LengthOf) {
    this.#lengthOf = lengthOf;
    const info = {
      id: 0,
      remoteAddress: 'portal',
      isTls: true,
      host: '127.0.0.1',
      remotePort: 0,
      port: 0,
    };
    this.#connection = protocol.open(
      {
        write: (bytes) => {
          this.#receive(bytes);
          return true;
        },
        end: (bytes) => {
          if (bytes !== undefined) this.#receive(bytes);
          this.#end();
        },
        destroy: () => this.#end(),
        pause: () => undefined,
        resume: () => undefined,
      },
      info,
    );
  }

  /** One message out, the next one in. Rejects where the API ends the connection. */
  ask(message: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#isEnded) {
        reject(new Error('The connection has ended.'));
        return;
      }
      this.#waiting = { resolve, reject };
      this.#connection.onData(Buffer.from(message));
    });
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #receive(bytes: Uint8Array): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    const length = this.#lengthOf(this.#received);
    if (length === undefined || this.#received.length < length) return;
    const message = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(message);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#waiting?.reject(new Error('The connection has ended.'));
    this.#waiting = undefined;
    this.#connection.onEnd();
  }
}
