/**
 * Small resources that belong to a database, a container or a user: scripts, users, permissions, encryption keys.
 * Their content belongs to their API; here they are a name, a number for life and properties that are stored
 * unchanged.
 */
import { encodeTuple, type ValueMap } from '../value/index.ts';

export type StoredKind =
  | 'clientEncryptionKey'
  | 'permission'
  | 'storedProcedure'
  | 'trigger'
  | 'user'
  | 'userDefinedFunction';

/** The owner of a resource. */
export interface ResourceOwner {
  readonly databaseRid: number;
  /** Zero if it belongs to the database itself or to one of its users. */
  readonly containerRid: number;
  /** The number of the user who owns the permission; zero otherwise. */
  readonly userRid: number;
}

export interface StoredResource extends ResourceOwner {
  readonly kind: StoredKind;
  readonly id: string;
  /** Names it for life within its owner. */
  readonly rid: number;
  readonly etag: string;
  readonly timestampSec: number;
  readonly properties: ValueMap;
}

/** `res` · database · container · user · kind · rid, so that the resources of an owner are adjacent. */
export function storedResourceKey(resource: StoredResource): Uint8Array {
  const { databaseRid, containerRid, userRid, kind, rid } = resource;
  return encodeTuple(['res', databaseRid, containerRid, userRid, kind, rid]);
}

/** The common prefix of the keys of all resources of a database or a container. */
export function ownedPrefix(databaseRid: number, containerRid?: number): Uint8Array {
  return encodeTuple(
    containerRid === undefined ? ['res', databaseRid] : ['res', databaseRid, containerRid],
  );
}

/** The resources of one database, in memory. */
export class StoredResources {
  readonly #byOwner = new Map<string, Map<string, StoredResource>>();

  list(owner: ResourceOwner, kind: StoredKind): readonly StoredResource[] {
    return [...(this.#byOwner.get(listName(owner, kind))?.values() ?? [])];
  }

  find(owner: ResourceOwner, kind: StoredKind, id: string): StoredResource | undefined {
    return this.#byOwner.get(listName(owner, kind))?.get(id);
  }

  put(resource: StoredResource): void {
    const name = listName(resource, resource.kind);
    let list = this.#byOwner.get(name);
    if (list === undefined) {
      list = new Map();
      this.#byOwner.set(name, list);
    }
    // The old name of a renamed resource is removed.
    for (const { rid, id } of list.values())
      if (rid === resource.rid && id !== resource.id) list.delete(id);
    list.set(resource.id, resource);
  }

  drop(resource: StoredResource): void {
    this.#byOwner.get(listName(resource, resource.kind))?.delete(resource.id);
  }

  dropContainer(containerRid: number): void {
    for (const name of this.#byOwner.keys())
      if (name.startsWith(`${containerRid}/`)) this.#byOwner.delete(name);
  }
}

function listName({ containerRid, userRid }: ResourceOwner, kind: StoredKind): string {
  return `${containerRid}/${userRid}/${kind}`;
}
