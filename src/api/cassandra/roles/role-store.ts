/**
 * Roles and their permissions. All of them are one policy of the database `system_auth`, which the first CREATE ROLE
 * makes, so a change is one record of the catalog: all or nothing.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Service } from '../../../service/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import { invalid } from '../errors.ts';
import { PERMISSIONS_MAX, ROLES_MAX } from '../limits.ts';
import type { Permission } from './resource.ts';
import type { RoleOptions } from './role-ast.ts';

const DATABASE = 'system_auth';
const POLICY = 'cassandraRoles';

const HASH_BYTES = 32;
/** Some ten milliseconds for each login, in another thread. */
const SCRYPT_COST = 4096;
const derive = promisify<string, Buffer, number, { N: number }, Buffer>(scrypt);

export interface Role {
  readonly name: string;
  readonly isSuperuser: boolean;
  readonly canLogin: boolean;
  /** `scrypt$salt$hash`; empty: no password. */
  readonly hash: string;
  readonly memberOf: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}

/** By role and name of the resource. */
export interface Grant {
  readonly role: string;
  readonly resource: string;
  readonly permissions: readonly Permission[];
}

interface Stored {
  readonly roles: ReadonlyMap<string, Role>;
  readonly grants: readonly Grant[];
}

const NOTHING: Stored = { roles: new Map(), grants: [] };

export class RoleStore {
  readonly #service: Service;
  /** A role that exists although nobody made it, for clusters that begin as Cassandra's do. */
  readonly #builtIn: Role | undefined;
  #seen: { readonly policies: ValueMap; readonly stored: Stored } | undefined;

  constructor(service: Service, builtIn: Role | undefined) {
    this.#service = service;
    this.#builtIn = builtIn;
  }

  list(): readonly Role[] {
    return [...this.#all().roles.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): Role | undefined {
    return this.#all().roles.get(name);
  }

  get grants(): readonly Grant[] {
    return this.#all().grants;
  }

  /** The role and all that it is a member of, directly or not. */
  memberships(name: string, isRecursive = true): readonly Role[] {
    const found = new Map<string, Role>();
    const add = (one: string, depth: number): void => {
      const role = this.find(one);
      if (role === undefined || found.has(one)) return;
      found.set(one, role);
      if (depth === 0 || isRecursive) for (const parent of role.memberOf) add(parent, depth + 1);
    };
    add(name, 0);
    return [...found.values()];
  }

  isSuperuser(name: string): boolean {
    return this.memberships(name).some((role) => role.isSuperuser);
  }

  async checkPassword(name: string, password: string): Promise<boolean> {
    const role = this.find(name);
    // A role that does not exist takes as long as one that does.
    const [, salt = '', hash = ''] = (role?.hash ?? '').split('$');
    const derived = await hashed(password, Buffer.from(salt, 'base64'));
    const expected = Buffer.from(hash, 'base64');
    const isRight = expected.length === derived.length && timingSafeEqual(expected, derived);
    return isRight && role !== undefined;
  }

  async put(name: string, options: RoleOptions): Promise<void> {
    const before = this.find(name);
    const hash =
      options.password === undefined ? (before?.hash ?? '') : await hashText(options.password);
    await this.#change((stored) => {
      const role: Role = {
        name,
        hash,
        isSuperuser: options.isSuperuser ?? before?.isSuperuser ?? false,
        canLogin: options.canLogin ?? before?.canLogin ?? false,
        memberOf: before?.memberOf ?? [],
        options: options.options ? Object.fromEntries(options.options) : (before?.options ?? {}),
      };
      return { ...stored, roles: new Map([...stored.roles, [name, role]]) };
    });
  }

  /** With everything that was granted to it or on it. */
  async drop(name: string): Promise<void> {
    await this.#change(({ roles, grants }) => {
      const left = [...roles].filter(([one]) => one !== name);
      return {
        roles: new Map(
          left.map(([one, role]) => [
            one,
            { ...role, memberOf: role.memberOf.filter((parent) => parent !== name) },
          ]),
        ),
        grants: grants.filter(
          ({ role, resource }) => role !== name && resource !== `roles/${name}`,
        ),
      };
    });
  }

  async setMemberships(name: string, memberOf: readonly string[]): Promise<void> {
    await this.#change(({ roles, grants }) => {
      const role = roles.get(name);
      if (role === undefined) throw invalid(`${name} doesn't exist`);
      return { roles: new Map([...roles, [name, { ...role, memberOf }]]), grants };
    });
  }

  async setGrant(grant: Grant): Promise<void> {
    await this.#change(({ roles, grants }) => {
      const others = grants.filter(
        ({ role, resource }) => role !== grant.role || resource !== grant.resource,
      );
      return { roles, grants: grant.permissions.length === 0 ? others : [...others, grant] };
    });
  }

  permissionsOn(role: string, resource: string): readonly Permission[] {
    const found = this.grants.find((one) => one.role === role && one.resource === resource);
    return found?.permissions ?? [];
  }

  /** Forgets what was granted on a resource that is gone, and below it. */
  async forget(resource: string): Promise<void> {
    const isGone = (name: string) => name === resource || name.startsWith(`${resource}/`);
    if (!this.grants.some((grant) => isGone(grant.resource))) return;
    await this.#change(({ roles, grants }) => ({
      roles,
      grants: grants.filter((grant) => !isGone(grant.resource)),
    }));
  }

  #all(): Stored {
    const policies = this.#service.databases.find(DATABASE)?.policies;
    if (policies === undefined) return this.#withBuiltIn(NOTHING);
    if (this.#seen?.policies !== policies)
      this.#seen = { policies, stored: this.#withBuiltIn(storedOf(policies[POLICY])) };
    return this.#seen.stored;
  }

  #withBuiltIn(stored: Stored): Stored {
    const role = this.#builtIn;
    if (role === undefined || stored.roles.has(role.name)) return stored;
    return { ...stored, roles: new Map([[role.name, role], ...stored.roles]) };
  }

  async #change(change: (stored: Stored) => Stored): Promise<void> {
    const { databases } = this.#service;
    const next = change(this.#all());
    if (next.roles.size > ROLES_MAX) throw invalid(`There are at most ${ROLES_MAX} roles`);
    if (next.grants.length > PERMISSIONS_MAX)
      throw invalid(`There are at most ${PERMISSIONS_MAX} grants`);
    const database = databases.find(DATABASE) ?? (await databases.create(DATABASE, undefined));
    await databases.setPolicies(database.rid, {
      ...database.policies,
      [POLICY]: {
        roles: [...next.roles.values()] as unknown as readonly Value[],
        grants: next.grants as unknown as readonly Value[],
      },
    });
  }
}

function storedOf(value: Value | undefined): Stored {
  if (value === undefined) return NOTHING;
  const { roles, grants } = value as unknown as {
    readonly roles: readonly Role[];
    readonly grants: readonly Grant[];
  };
  return { roles: new Map(roles.map((role) => [role.name, role])), grants };
}

async function hashText(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await hashed(password, salt);
  return `scrypt$${salt.toString('base64')}$${hash.toString('base64')}`;
}

function hashed(password: string, salt: Buffer): Promise<Buffer> {
  return derive(password, salt, HASH_BYTES, { N: SCRYPT_COST });
}

/** The superuser of a new Cassandra, with its name as the password. */
export const DEFAULT_ROLE: Role = {
  name: 'cassandra',
  isSuperuser: true,
  canLogin: true,
  hash: 'scrypt$bWVzb2Nvc20gY2Fzc2FuZA==$Hvqo4PRg3mEQNBZIsc5JB8RwWiCI6rPyNJPwe37BBek=',
  memberOf: [],
  options: {},
};
