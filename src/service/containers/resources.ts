/** The small resources of databases, containers and users: create, look up, list, replace, delete. */
import {
  type Clock,
  DomainError,
  RESOURCES_PER_OWNER_MAX,
  SCRIPTS_PER_CONTAINER_MAX,
} from '../../base/index.ts';
import type { Catalog, ResourceOwner, StoredKind, StoredResource } from '../../catalog/index.ts';
import type { ValueMap } from '../../value/index.ts';
import { checkEtag, newEtag } from './resource-etag.ts';

/** A resource as its creator specifies it. */
interface ResourceSpec {
  readonly id: string;
  readonly properties: ValueMap;
}

interface Upserted {
  readonly resource: StoredResource;
  readonly isNew: boolean;
}

export class Resources {
  readonly #catalog: Catalog;
  readonly #clock: Clock;

  constructor(catalog: Catalog, clock: Clock) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  list(owner: ResourceOwner, kind: StoredKind): readonly StoredResource[] {
    return this.#catalog.storedResources(owner, kind);
  }

  find(owner: ResourceOwner, kind: StoredKind, id: string): StoredResource | undefined {
    return this.#catalog.storedResource(owner, kind, id);
  }

  create(owner: ResourceOwner, kind: StoredKind, spec: ResourceSpec): Promise<StoredResource> {
    return this.#catalog.change(() => {
      if (this.find(owner, kind, spec.id) !== undefined) throw exists();
      const resource = this.#newResource(owner, kind, spec);
      return { resources: [resource], result: resource };
    });
  }

  /** @param ifMatch - the etag the resource must still have, where there is one. */
  upsert(
    owner: ResourceOwner,
    kind: StoredKind,
    spec: ResourceSpec,
    ifMatch?: string,
  ): Promise<Upserted> {
    return this.#catalog.change(() => {
      const current = this.find(owner, kind, spec.id);
      const resource =
        current === undefined
          ? this.#newResource(owner, kind, spec)
          : this.#replaced(current, spec, ifMatch);
      return { resources: [resource], result: { resource, isNew: current === undefined } };
    });
  }

  /**
   * The name may change, the rid stays.
   * @param ifMatch - the etag the resource must still have.
   */
  replace(seen: StoredResource, spec: ResourceSpec, ifMatch?: string): Promise<StoredResource> {
    return this.#catalog.change(() => {
      const current = this.#current(seen);
      if (spec.id !== current.id && this.find(current, current.kind, spec.id) !== undefined)
        throw exists();
      const resource = this.#replaced(current, spec, ifMatch);
      return { resources: [resource], result: resource };
    });
  }

  /** The permissions of a user are deleted with the user. */
  delete(seen: StoredResource, ifMatch?: string): Promise<void> {
    return this.#catalog.change(() => {
      const current = this.#current(seen);
      checkEtag(current.etag, ifMatch);
      const owned = current.kind === 'user' ? this.#permissionsOf(current) : [];
      return { droppedResources: [current, ...owned], result: undefined };
    });
  }

  #permissionsOf({ databaseRid, containerRid, rid }: StoredResource): readonly StoredResource[] {
    return this.list({ databaseRid, containerRid, userRid: rid }, 'permission');
  }

  #current(seen: StoredResource): StoredResource {
    const current = this.find(seen, seen.kind, seen.id);
    if (current?.rid !== seen.rid) throw new DomainError('resourceNotFound', 'Resource Not Found.');
    return current;
  }

  #newResource(owner: ResourceOwner, kind: StoredKind, spec: ResourceSpec): StoredResource {
    const { databaseRid, containerRid, userRid } = owner;
    const siblings = this.list(owner, kind);
    const most = containerRid === 0 ? RESOURCES_PER_OWNER_MAX : SCRIPTS_PER_CONTAINER_MAX;
    if (siblings.length >= most)
      throw new DomainError(
        'forbidden',
        `There are ${most} resources of this kind already, the most there may be. Delete some first.`,
      );
    return {
      kind,
      databaseRid,
      containerRid,
      userRid,
      id: spec.id,
      rid: this.#catalog.newRid(31, (rid) => siblings.some((sibling) => sibling.rid === rid)),
      etag: newEtag(),
      timestampSec: this.#nowSec(),
      properties: spec.properties,
    };
  }

  #replaced(current: StoredResource, spec: ResourceSpec, ifMatch?: string): StoredResource {
    checkEtag(current.etag, ifMatch);
    const { id, properties } = spec;
    return { ...current, id, properties, etag: newEtag(), timestampSec: this.#nowSec() };
  }

  #nowSec(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}

function exists(): DomainError {
  return new DomainError('resourceExists', 'Resource with specified id or name already exists.');
}
