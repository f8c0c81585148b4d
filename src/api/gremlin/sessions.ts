/**
 * Sessions: requests of one client that share a transaction. Their writes become visible to others with a commit, all or
 * none; a request that fails, the end of the session and its lifetime roll them back.
 */
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Service } from '../../service/index.ts';
import { malformedRequest } from './errors.ts';
import { ContainerGraph } from './graph/container-graph.ts';
import { DocumentStore, type StoreOptions } from './graph/document-store.ts';
import type { Flavour } from './graph/flavour.ts';
import { SESSIONS_MAX } from './limits.ts';

interface OpenTransaction {
  readonly container: ContainerRecord;
  readonly store: DocumentStore;
  readonly graph: ContainerGraph;
}

export class Session {
  readonly #service: Service;
  #open: OpenTransaction | undefined;
  /** Requests of a session run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(service: Service) {
    this.#service = service;
  }

  /** Runs when the requests before have ended. */
  async inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(run, run);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** The graph with the writes of the session's transaction, which begins where there is none. */
  graph(
    container: ContainerRecord,
    flavour: Flavour,
    options: Pick<StoreOptions, 'usage' | 'interruption' | 'reach'>,
  ): ContainerGraph {
    if (this.#open !== undefined && this.#open.container.rid !== container.rid)
      throw malformedRequest('A transaction of a session works on one graph.');
    if (this.#open === undefined) {
      const store = new DocumentStore(this.#service, container, {
        ...options,
        isTransactional: true,
      });
      this.#open = { container, store, graph: new ContainerGraph(store, flavour) };
    }
    this.#open.store.serve(options);
    return this.#open.graph;
  }

  async commit(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    try {
      await open?.graph.commit();
    } finally {
      await open?.store.abort();
    }
  }

  async rollback(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.store.abort();
  }
}

/** The sessions of one connection, by the ids that the client gives them. */
export class Sessions {
  readonly #service: Service;
  readonly #sessions = new Map<string, Session>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** Opens the session where it is not open. */
  get(id: string): Session {
    const known = this.#sessions.get(id);
    if (known !== undefined) return known;
    if (this.#sessions.size >= SESSIONS_MAX)
      throw malformedRequest(`A connection has at most ${SESSIONS_MAX} sessions.`);
    const session = new Session(this.#service);
    this.#sessions.set(id, session);
    return session;
  }

  async close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.inTurn(() => session.rollback());
  }

  /** The connection has ended. */
  async closeAll(): Promise<void> {
    for (const id of [...this.#sessions.keys()]) await this.close(id);
  }
}
