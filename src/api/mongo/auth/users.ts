/**
 * Users beside the account itself: documents of `admin.system.users`, with the keys that SCRAM needs and no passwords.
 * Roles of their own are documents of `admin.system.roles`.
 */
import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import {
  MASTER,
  type ScramMechanism,
  type ScramSecret,
  type Service,
} from '../../../service/index.ts';
import {
  type Bson,
  type BsonDocument,
  isArray,
  isDocument,
  readBson,
  writeBson,
} from '../../../value/index.ts';
import { type Collection, ensureCollection, findCollection } from '../collections/collection.ts';
import { addressOf } from '../documents/address.ts';
import { Row } from '../documents/rows.ts';
import { documentOf } from '../reply.ts';
import { type Grants, grantsOf, type RoleName } from './grants.ts';

export const USERS = { database: 'admin', collection: 'system.users' };
export const ROLES = { database: 'admin', collection: 'system.roles' };

const derive = promisify(pbkdf2);
const PARAMETERS = {
  'SCRAM-SHA-256': { digest: 'sha256', bytes: 32, saltBytes: 28, iterations: 15_000 },
  'SCRAM-SHA-1': { digest: 'sha1', bytes: 20, saltBytes: 16, iterations: 10_000 },
} as const;

/** Roles that inherit from roles: so deep. */
const INHERITANCE_MAX = 10;

export class Users {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  async find(user: string, database: string): Promise<BsonDocument | undefined> {
    return this.#read(USERS, `${database}.${user}`);
  }

  /** How a user may log in; whoever is not stored as one may use either. */
  async mechanismsOf(user: string, database: string): Promise<readonly string[]> {
    const credentials = (await this.find(user, database))?.get('credentials');
    return isDocument(credentials)
      ? [...credentials.keys()]
      : (Object.keys(PARAMETERS) as readonly string[]);
  }

  async findRole({ role, db }: RoleName): Promise<BsonDocument | undefined> {
    return this.#read(ROLES, `${db}.${role}`);
  }

  async list(which: typeof USERS): Promise<readonly BsonDocument[]> {
    const collection = findCollection(this.#service, which);
    if (collection === undefined) return [];
    const found: BsonDocument[] = [];
    let continuation: string | undefined;
    do {
      const page = await this.#service.items.feed(collection.container, {
        scope: { kind: 'container' },
        continuation,
        limit: 1000,
        bytesMax: 4 * 1024 * 1024,
        sessionToken: undefined,
      });
      for (const { body } of page.items) found.push(Row.ofBody(body).document);
      continuation = page.continuation;
    } while (continuation !== undefined);
    return found;
  }

  async put(which: typeof USERS, document: BsonDocument): Promise<void> {
    const collection = await ensureCollection(this.#service, which);
    const body = writeBson(document);
    const address = addressOf(collection, document);
    await this.#service.items.write(collection.container, {
      kind: 'upsert',
      ...address,
      body,
      ttlSec: 0,
    });
  }

  async remove(which: typeof USERS, document: BsonDocument): Promise<void> {
    const collection = findCollection(this.#service, which);
    if (collection === undefined) return;
    const address = addressOf(collection, document);
    await this.#service.items.write(collection.container, { kind: 'delete', ...address });
  }

  /** What proves the password of a user; undefined where there is no such user. */
  async secretOf(
    user: string,
    database: string,
    mechanism: ScramMechanism,
  ): Promise<ScramSecret | undefined> {
    const credentials = (await this.find(user, database))?.get('credentials');
    const stored = isDocument(credentials) ? credentials.get(mechanism) : undefined;
    if (!isDocument(stored)) return undefined;
    const bytes = (name: string): Buffer => Buffer.from(String(stored.get(name)), 'base64');
    return {
      salt: bytes('salt'),
      iterations: Number(stored.get('iterationCount')),
      storedKey: bytes('storedKey'),
      serverKey: bytes('serverKey'),
      principal: MASTER,
    };
  }

  /** Undefined for the account itself. */
  async grantsOf(user: string, database: string): Promise<Grants | undefined> {
    const document = await this.find(user, database);
    if (document === undefined) return undefined;
    return grantsOf(await this.inherited(rolesOf(document)));
  }

  /** The roles with all that they inherit. */
  async inherited(roles: readonly RoleName[]): Promise<readonly RoleName[]> {
    const found = new Map(roles.map((each) => [`${each.db}.${each.role}`, each]));
    let next = roles;
    for (let depth = 0; depth < INHERITANCE_MAX && next.length > 0; depth++) {
      const inner: RoleName[] = [];
      for (const role of next) {
        const document = await this.findRole(role);
        for (const each of document === undefined ? [] : rolesOf(document)) {
          const key = `${each.db}.${each.role}`;
          if (found.has(key)) continue;
          found.set(key, each);
          inner.push(each);
        }
      }
      next = inner;
    }
    return [...found.values()];
  }

  async #read(which: typeof USERS, id: string): Promise<BsonDocument | undefined> {
    const collection: Collection | undefined = findCollection(this.#service, which);
    if (collection === undefined) return undefined;
    const address = addressOf(collection, documentOf({ _id: id }));
    const { item } = await this.#service.items.read(collection.container, address, undefined);
    return item && readBson(item.body);
  }
}

export function rolesOf(document: BsonDocument): readonly RoleName[] {
  const roles = document.get('roles');
  if (!isArray(roles)) return [];
  return roles.flatMap((each) =>
    isDocument(each) ? [{ role: String(each.get('role')), db: String(each.get('db')) }] : [],
  );
}

/** What is stored of a password, for each mechanism. Derived in another thread. */
export async function credentialsOf(
  user: string,
  password: string,
  mechanisms: readonly ScramMechanism[],
): Promise<BsonDocument> {
  const credentials = new Map<string, Bson>();
  for (const mechanism of mechanisms) {
    const { digest, bytes, saltBytes, iterations } = PARAMETERS[mechanism];
    const salt = randomBytes(saltBytes);
    const text =
      mechanism === 'SCRAM-SHA-256'
        ? password.normalize('NFKC')
        : createHash('md5').update(`${user}:mongo:${password}`).digest('hex');
    const salted = await derive(text, salt, iterations, bytes, digest);
    const clientKey = createHmac(digest, salted).update('Client Key').digest();
    credentials.set(
      mechanism,
      documentOf({
        iterationCount: iterations,
        salt: salt.toString('base64'),
        storedKey: createHash(digest).update(clientKey).digest('base64'),
        serverKey: createHmac(digest, salted).update('Server Key').digest('base64'),
      }),
    );
  }
  return credentials;
}
