/** A client of the MongoDB API of this process: logs in with SCRAM and sends commands as OP_MSG. */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { BSON, type Document } from 'bson';
import type { ByteProtocol } from '../../net/index.ts';
import { RunError } from '../run/run-error.ts';
import { BytePipe } from './byte-pipe.ts';

const OP_MSG = 2013;
const HEADER_BYTES = 16;
/** Header, flags, kind of the section. */
const BODY_AT = 21;
const USER = 'localhost';
const DIGEST_BYTES = 32;

export class MongoClient implements Disposable {
  readonly #pipe: BytePipe;
  #requestId = 0;

  private constructor(protocol: ByteProtocol) {
    this.#pipe = new BytePipe(protocol, (bytes) =>
      bytes.length < 4 ? undefined : bytes.readInt32LE(0),
    );
  }

  static async open(protocol: ByteProtocol, key: string): Promise<MongoClient> {
    const client = new MongoClient(protocol);
    try {
      await client.#login(key);
      return client;
    } catch (error) {
      client[Symbol.dispose]();
      throw error;
    }
  }

  /** Throws RunError with the code and the message of the API. */
  async command(database: string, command: Document): Promise<Document> {
    const body = BSON.serialize({ ...command, $db: database });
    const message = Buffer.alloc(BODY_AT + body.length);
    message.writeInt32LE(message.length, 0);
    message.writeInt32LE(++this.#requestId, 4);
    message.writeInt32LE(OP_MSG, 12);
    message.set(body, BODY_AT);
    const reply = await this.#pipe.ask(message);
    if (reply.length < HEADER_BYTES) throw new RunError('internal', 'The reply is not complete.');
    const document = BSON.deserialize(reply.subarray(BODY_AT), {
      promoteValues: false,
      promoteLongs: false,
    });
    if (Number(document.ok) === 1) return document;
    throw new RunError(String(document.codeName ?? document.code), String(document.errmsg));
  }

  [Symbol.dispose](): void {
    this.#pipe[Symbol.dispose]();
  }

  async #login(key: string): Promise<void> {
    const first = `n=${USER},r=${randomBytes(18).toString('base64')}`;
    const started = await this.command('admin', {
      saslStart: 1,
      mechanism: 'SCRAM-SHA-256',
      payload: Buffer.from(`n,,${first}`),
      options: { skipEmptyExchange: true },
    });
    const challenge = payloadText(started);
    const field = (name: string): string =>
      new RegExp(`(?:^|,)${name}=([^,]*)`).exec(challenge)?.[1] ?? '';
    const last = `c=biws,r=${field('r')}`;
    const salted = await promisify(pbkdf2)(
      key,
      Buffer.from(field('s'), 'base64'),
      Number(field('i')),
      DIGEST_BYTES,
      'sha256',
    );
    const clientKey = hmac(salted, 'Client Key');
    const storedKey = createHash('sha256').update(clientKey).digest();
    const signature = hmac(storedKey, `${first},${challenge},${last}`);
    const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0));
    await this.command('admin', {
      saslContinue: 1,
      conversationId: started.conversationId,
      payload: Buffer.from(`${last},p=${Buffer.from(proof).toString('base64')}`),
    });
  }
}

function payloadText({ payload }: Document): string {
  const bytes = payload?.buffer ?? payload;
  return Buffer.from(bytes).toString('utf8');
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
