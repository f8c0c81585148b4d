/** One SCRAM exchange (RFC 5802, RFC 7677) on the server's side. */
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Principal, ScramMechanism, ScramSecret } from '../../../service/index.ts';
import { MongoError } from '../errors.ts';

const NONCE_BYTES = 24;
const FIRST = /^(n|y|p=[^,]*),(?:a=[^,]*)?,(n=([^,]*),r=([!-+\--~]+)(?:,.*)?)$/;
const FINAL = /^(c=([^,]*),r=([^,]*)),p=([A-Za-z0-9+/=]+)$/;

interface ScramState {
  /** The candidates: one per key that the user may have. */
  readonly secrets: readonly ScramSecret[];
  readonly nonce: string;
  readonly header: string;
  readonly clientFirst: string;
  readonly serverFirst: string;
}

const DIGESTS: Readonly<Record<ScramMechanism, string>> = {
  'SCRAM-SHA-256': 'sha256',
  'SCRAM-SHA-1': 'sha1',
};

export function isScram(mechanism: unknown): mechanism is ScramMechanism {
  return mechanism === 'SCRAM-SHA-256' || mechanism === 'SCRAM-SHA-1';
}

/** The user of a first message. */
export function userIn(payload: string): string {
  const name = FIRST.exec(payload)?.[3] ?? '';
  return name.replaceAll('=2C', ',').replaceAll('=3D', '=');
}

export class ScramExchange {
  readonly #digest: string;
  readonly #state: ScramState;

  /** @param secretsOf - finds what is stored for a user; a stranger gets secrets that nothing opens. */
  constructor(
    payload: string,
    secretsOf: (user: string) => readonly ScramSecret[],
    mechanism: ScramMechanism = 'SCRAM-SHA-256',
    random: (bytes: number) => Uint8Array = randomBytes,
  ) {
    this.#digest = DIGESTS[mechanism];
    const parts = FIRST.exec(payload);
    if (parts === null) throw authenticationFailed('Incorrect SCRAM client message');
    const [, binding = '', bare = '', name = '', clientNonce = ''] = parts;
    if (binding.startsWith('p=')) throw authenticationFailed('Channel binding is not supported');
    const user = name.replaceAll('=2C', ',').replaceAll('=3D', '=');
    const secrets = secretsOf(user);
    const [first] = secrets;
    if (first === undefined) throw authenticationFailed();
    const nonce = clientNonce + Buffer.from(random(NONCE_BYTES)).toString('base64');
    const salt = Buffer.from(first.salt).toString('base64');
    this.#state = {
      secrets,
      nonce,
      header: payload.slice(0, payload.length - bare.length),
      clientFirst: bare,
      serverFirst: `r=${nonce},s=${salt},i=${first.iterations}`,
    };
  }

  get firstReply(): string {
    return this.#state.serverFirst;
  }

  /** The principal whose key the client has, and the proof of the server's. Throws AuthenticationFailed. */
  finish(payload: string): { readonly principal: Principal; readonly reply: string } {
    const { secrets, nonce, header, clientFirst, serverFirst } = this.#state;
    const [, withoutProof = '', binding = '', sentNonce = '', proof = ''] =
      FINAL.exec(payload) ?? [];
    if (sentNonce !== nonce || Buffer.from(binding, 'base64').toString() !== header)
      throw authenticationFailed();
    const message = `${clientFirst},${serverFirst},${withoutProof}`;
    const sent = Buffer.from(proof, 'base64');
    for (const secret of secrets) {
      const signature = this.#hmac(secret.storedKey, message);
      if (sent.length !== signature.length) break;
      const clientKey = signature.map((byte, at) => byte ^ (sent[at] as number));
      if (!timingSafeEqual(hash(this.#digest, clientKey, 'buffer'), secret.storedKey)) continue;
      if (secret.principal === undefined) break;
      const reply = `v=${this.#hmac(secret.serverKey, message).toString('base64')}`;
      return { principal: secret.principal, reply };
    }
    throw authenticationFailed();
  }

  #hmac(key: Uint8Array, message: string): Buffer {
    return createHmac(this.#digest, key).update(message).digest();
  }
}

export function authenticationFailed(message = 'Authentication failed.'): MongoError {
  return new MongoError('AuthenticationFailed', message);
}
