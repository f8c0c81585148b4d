/**
 * What a server keeps beside its data, in a store of the engine: the secret and the rotated keys, the roles, and the TLS
 * authority. A node on another machine then has the same keys and certificates that clients trust.
 *
 * Entries: `access` → JSON of AccessState, `roles` → text of the roles file, `tls/NAME` → PEM, `portal` → JSON of saved
 * queries.
 */
import { randomBytes } from 'node:crypto';
import { bytesToText, textToBytes } from '../../base/index.ts';
import type { Engine, Store } from '../../engine/index.ts';
import type { AccessState, AccessStore } from '../../service/index.ts';
import type { TlsFiles } from '../tls/index.ts';

export const SERVER_STORE = 'server';
export const ACCESS_KEY = 'access';
export const ROLES_KEY = 'roles';
export const SAVED_QUERIES_KEY = 'portal';
/** The certificate of the server itself is made for the names of its machine. */
export const SHARED_TLS_FILES = ['ca.pem', 'ca-key.pem'] as const;
export const tlsKey = (name: string): string => `tls/${name}`;

const SECRET_BYTES = 64;
const PAGE = { limit: 1000, bytesMax: 16 * 1024 * 1024 };

export class ServerStore {
  readonly #store: Store;
  readonly #entries: Map<string, string>;
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(store: Store, entries: Map<string, string>) {
    this.#store = store;
    this.#entries = entries;
  }

  static async open(engine: Engine): Promise<ServerStore> {
    const store = await engine.open(SERVER_STORE);
    const page = await store.scan({ start: textToBytes(' '), end: undefined }, PAGE);
    const entries = new Map<string, string>();
    for (const { key, value } of page.entries) entries.set(bytesToText(key), bytesToText(value));
    return new ServerStore(store, entries);
  }

  read(name: string): string | undefined {
    return this.#entries.get(name);
  }

  /** All entries, by name. */
  entries(): ReadonlyMap<string, string> {
    return this.#entries;
  }

  /** Resolves when the entry is durable. */
  async write(name: string, text: string): Promise<void> {
    await this.#store.commit({ puts: [{ key: textToBytes(name), value: textToBytes(text) }] });
    this.#entries.set(name, text);
  }

  /** Resolves when everything that was written without waiting is durable. */
  async flush(): Promise<void> {
    await this.#lastWrite;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** Keys and secret; a new secret where there is none. */
  async accessStore(): Promise<AccessStore> {
    if (this.read(ACCESS_KEY) === undefined) {
      const state: AccessState = {
        secret: randomBytes(SECRET_BYTES).toString('base64'),
        keys: {},
      };
      await this.write(ACCESS_KEY, JSON.stringify(state));
    }
    return {
      read: () => JSON.parse(this.read(ACCESS_KEY) ?? 'null') as AccessState,
      write: (state) => this.write(ACCESS_KEY, JSON.stringify(state)),
    };
  }

  /** Files of TLS: the authority is shared, the certificate of this machine is made again at every start. */
  tlsFiles(): TlsFiles {
    const own = new Map<string, string>();
    return {
      read: (name) => own.get(name) ?? this.read(tlsKey(name)),
      write: (name, text) => {
        own.set(name, text);
        if (!SHARED_TLS_FILES.some((shared) => shared === name)) return;
        this.#lastWrite = this.#lastWrite.then(() => this.write(tlsKey(name), text));
        // `flush` reports it.
        this.#lastWrite.catch(() => undefined);
      },
    };
  }
}
