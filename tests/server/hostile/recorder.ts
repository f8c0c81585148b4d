/** A proxy on the way to a port: keeps what each client sends, and passes everything on. */
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

export class Recorder implements AsyncDisposable {
  /** The chunks of each connection, in the order of connecting. */
  readonly #sent: Buffer[][] = [];
  readonly #server: Server;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const chunks: Buffer[] = [];
      this.#sent.push(chunks);
      const server = connect(port, '127.0.0.1');
      client.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        server.write(chunk);
      });
      server.on('data', (chunk) => client.write(chunk));
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
  }

  static async open(port: number): Promise<Recorder> {
    const recorder = new Recorder(port);
    await new Promise<void>((resolve) => {
      recorder.#server.listen(0, '127.0.0.1', resolve);
    });
    return recorder;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get sent(): readonly Buffer[] {
    return this.#sent.map((chunks) => Buffer.concat(chunks));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
