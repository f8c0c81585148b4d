/** A socket in the hand of the test: what was received is kept until it is wanted. */
import { connect, type Socket } from 'node:net';

export class RawConnection implements Disposable {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #check: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#check?.();
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#check?.();
    });
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
        resolve(new RawConnection(socket)),
      );
      socket.once('error', reject);
    });
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Half of the connection. */
  end(): void {
    this.#socket.end();
  }

  /** The first `take(received)` bytes, once that is a number; rejects where the server closes before. */
  async next(take: (received: Buffer) => number | undefined): Promise<Buffer> {
    let length: number | undefined;
    const isThere = (received: Buffer): boolean => {
      length = take(received);
      return length !== undefined;
    };
    if ((await this.until(isThere)) === 'closed' || length === undefined)
      throw new Error('the server closed the connection');
    const taken = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return taken;
  }

  /** Waits for bytes, or for the end. */
  until(isThere: (received: Buffer) => boolean): Promise<'received' | 'closed'> {
    return new Promise((resolve) => {
      this.#check = () => {
        const isReceived = isThere(this.#received);
        if (!isReceived && !this.#isClosed) return;
        this.#check = undefined;
        resolve(isReceived ? 'received' : 'closed');
      };
      this.#check();
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
