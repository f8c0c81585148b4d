/** One request in the API: target, headers and body, with the service and caches that serve it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Bytes, MaybePromise, SlicedWork } from '../../base/index.ts';
import { type ContainerRecord, type DatabaseRecord, parseResourceId } from '../../catalog/index.ts';
import { type Exchange, headerOf } from '../../http/index.ts';
import type { AccessControl, Service } from '../../service/index.ts';
import type { ContainerView, ContainerViews } from './containers/container-view.ts';
import { RequestError, SUBSTATUS_OWNER_NOT_FOUND, SUBSTATUS_WRONG_CONTAINER } from './errors.ts';
import type { KeyValues } from './items/partition-key-header.ts';
import type { PreparedQueries } from './query/prepared-queries.ts';
import type { Reply } from './reply.ts';
import type { Target } from './target.ts';

interface CallOptions {
  readonly service: Service;
  readonly access: AccessControl;
  readonly views: ContainerViews;
  readonly queries: PreparedQueries;
  /** Runs long computations in slices, so that other requests are served in between. */
  readonly slicedWork: SlicedWork;
  readonly exchange: Exchange;
  readonly target: Target;
}

export type RequestHandler = (call: Call) => MaybePromise<Reply>;

export class Call {
  readonly service: Service;
  readonly access: AccessControl;
  readonly queries: PreparedQueries;
  readonly slicedWork: SlicedWork;
  readonly exchange: Exchange;
  readonly target: Target;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Throws for a partition key that the caller has no right to; set where the keys are in the body of the request. */
  keyGuard: ((key: KeyValues) => void) | undefined;
  /** Throws where the caller may replace an item but not rename it: a new id deletes one item and creates another. */
  renameGuard: (() => void) | undefined;
  /** Set before the operation runs, where the method has a body. */
  body: Bytes = NO_BODY;
  readonly #views: ContainerViews;
  #container: ContainerView | undefined;

  constructor(options: CallOptions) {
    this.service = options.service;
    this.access = options.access;
    this.queries = options.queries;
    this.slicedWork = options.slicedWork;
    this.exchange = options.exchange;
    this.target = options.target;
    this.method = options.exchange.method;
    this.headers = options.exchange.headers;
    this.#views = options.views;
  }

  /** Undefined for a header that was not sent, or sent empty. */
  header(name: string): string | undefined {
    const text = headerOf(this.exchange, name);
    return text === '' ? undefined : text;
  }

  isHeaderTrue(name: string): boolean {
    return this.header(name)?.toLowerCase() === 'true';
  }

  /** The id of the resource itself, or of the parent of a feed. */
  id(level: number): string {
    return this.target.ids[level] ?? '';
  }

  findDatabase(): DatabaseRecord | undefined {
    const id = this.id(0);
    const byName = this.service.databases.find(id);
    if (byName !== undefined) return byName;
    const rid = parseResourceId(id);
    return rid?.kind === 'database' ? this.service.databases.findByRid(rid.database) : undefined;
  }

  /** The database that owns what the request names; 404/1003 where there is none. */
  ownerDatabase(): DatabaseRecord {
    const database = this.findDatabase();
    if (database === undefined) throw ownerNotFound();
    return database;
  }

  findContainer(): ContainerView | undefined {
    const database = this.ownerDatabase();
    const id = this.id(1);
    const byName = this.service.containers.find(database, id);
    if (byName !== undefined) return this.viewOf(database, byName);
    const rid = parseResourceId(id);
    if (rid?.kind !== 'container' || rid.database !== database.rid) return undefined;
    const byRid = this.service.containers.findByRid(rid.database, rid.container);
    return byRid === undefined ? undefined : this.viewOf(database, byRid);
  }

  /** The container that owns what the request names; 404/1003 where there is none. */
  ownerContainer(): ContainerView {
    const view = this.findContainer();
    if (view === undefined) throw ownerNotFound();
    const intended = this.headers['x-ms-cosmos-intended-collection-rid'];
    if (intended !== undefined && intended !== view.rid)
      throw new RequestError(400, 'The request is meant for a container that is no more.', {
        substatus: SUBSTATUS_WRONG_CONTAINER,
      });
    return view;
  }

  /** The view of the container; later responses carry its headers. */
  viewOf(database: DatabaseRecord, container: ContainerRecord): ContainerView {
    this.#container = this.#views.of(database, container);
    return this.#container;
  }

  /** Headers that name the container of the response; none before a container was found. */
  get scopeHeaders(): readonly string[] {
    return this.#container?.scopeHeaders ?? NO_HEADERS;
  }
}

const NO_BODY: Bytes = new Uint8Array(0);
const NO_HEADERS: readonly string[] = [];

export function ownerNotFound(): RequestError {
  return new RequestError(404, 'Owner resource does not exist.', {
    substatus: SUBSTATUS_OWNER_NOT_FOUND,
  });
}

export function resourceNotFound(): RequestError {
  return new RequestError(404, 'Resource Not Found.');
}
