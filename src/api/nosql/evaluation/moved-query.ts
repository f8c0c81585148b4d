/** Queries whose rows are computed in an evaluation thread. */
import {
  assert,
  type Bytes,
  DomainError,
  EVALUATION_PAGE_MS,
  evaluationTimeout,
} from '../../../base/index.ts';
import type {
  Blocking,
  MovedQuery,
  PendingItem,
  QueryMover,
  ResultRow,
  Row,
  RowFold,
  Streaming,
} from '../../../query/index.ts';
import { type Query, SqlError } from '../sql/index.ts';
import { EvaluationPool } from './evaluation-pool.ts';
import type { EvaluationThread, ThreadOutcome } from './evaluation-thread.ts';
import type { PackedItems, ThreadQuery, ThreadRequest, ThreadResponse } from './protocol.ts';

/** Time beyond the budget after which a thread is stuck: its own code did not get to look at the clock. */
const GRACE_MS = 500;

/** The time for which a slow query starts in a thread; after that it starts in the main thread again. */
const SLOW_MS = 1000;

/** One pool for the process, so that its threads are few. They end with the process, or when they are idle. */
const pool = new EvaluationPool();

/** Until when a query starts in a thread. The key is the same object as long as the query cache has the text. */
const slowUntilMs = new WeakMap<Query, number>();

/** @param query - the parsed query, or a rewritten form of it. */
export function moverOf(threadQuery: () => ThreadQuery, query: Query): QueryMover {
  return {
    get isDue() {
      return (slowUntilMs.get(query) ?? 0) > performance.now();
    },
    begin(shape, isSlow): MovedQuery {
      if (isSlow) slowUntilMs.set(query, performance.now() + SLOW_MS);
      const page = new MovedPage(threadQuery());
      return {
        shape: shape.kind === 'streaming' ? page.streaming(shape) : page.blocking(shape),
        release: () => page.release(),
      };
    },
  };
}

/** A page has one thread from its first rows to its last, with a budget of time. */
class MovedPage {
  readonly #query: ThreadQuery;
  #thread: Promise<EvaluationThread> | undefined;
  #timeLeftMs = EVALUATION_PAGE_MS;

  constructor(threadQuery: ThreadQuery) {
    this.#query = threadQuery;
  }

  streaming({ order, skip, take }: Streaming): Streaming {
    return {
      kind: 'streaming',
      order,
      skip,
      take,
      rowsOf: unavailableHere,
      rowsOfMany: (items, mayStop) => this.#rows(items, mayStop),
    };
  }

  blocking({ needsEvery }: Blocking): Blocking {
    return { kind: 'blocking', needsEvery, start: (wanted) => this.#start(wanted) };
  }

  release(): void {
    this.#thread?.then(
      (thread) => pool.release(thread),
      // A failed lease has no thread to release; its error went to the page that waited for it.
      () => undefined,
    );
    this.#thread = undefined;
  }

  async #rows(
    items: readonly PendingItem[],
    mayStop: boolean,
  ): Promise<readonly (readonly Row[])[]> {
    if (items.length === 0) return [];
    const rowsGiven = items[0]?.rowsGiven ?? 0;
    const response = await this.#request({
      kind: 'rows',
      ...packedItems(items),
      rowsGiven,
      mayStop,
    });
    assert(response.kind === 'rows', 'the response to rows is rows');
    return response.lists.map((rows, at) =>
      rows.map(([text, keys]) => ({
        item: text === null ? items[at] : undefined,
        text: text ?? undefined,
        isLeft: text === undefined,
        keys,
      })),
    );
  }

  #start(wanted: number | undefined): RowFold {
    let matched = 0;
    return {
      add: unavailableHere,
      finish: unavailableHere,
      itemsMatched: () => matched,
      async: {
        addMany: async (items) => {
          if (items.length === 0) return true;
          const response = await this.#request({ kind: 'add', ...packedItems(items) }, wanted);
          assert(response.kind === 'added', 'items are added');
          return response.wantsMore;
        },
        finish: async () => {
          const rows: ResultRow[] = [];
          let hasMore = true;
          for (let kind: 'finish' | 'more' = 'finish'; hasMore; kind = 'more') {
            const response = await this.#request({ kind }, wanted);
            assert(response.kind === 'finished', 'a fold is finished');
            for (const text of response.texts) rows.push({ text });
            ({ matched, hasMore } = response);
          }
          return rows;
        },
      },
    };
  }

  async #request(request: ThreadRequest, wanted?: number): Promise<ThreadResponse> {
    if (this.#thread === undefined) {
      this.#thread = pool.lease();
      await this.#send({ ...this.#query, kind: 'begin', wanted });
    }
    return this.#send(request);
  }

  async #send(request: ThreadRequest): Promise<ThreadResponse> {
    assert(this.#thread !== undefined, 'a thread was leased');
    const thread = await this.#thread;
    const startedMs = performance.now();
    const response = await thread.send(request, Math.max(1, this.#timeLeftMs) + GRACE_MS);
    this.#timeLeftMs -= performance.now() - startedMs;
    return checked(response);
  }
}

function unavailableHere(): never {
  throw new Error('rows are computed in an evaluation thread');
}

function checked(response: ThreadOutcome): ThreadResponse {
  switch (response.kind) {
    case 'lost':
      throw response.isMemory ? tooMuchMemory() : evaluationTimeout();
    case 'refused':
      throw new DomainError(response.code, response.message);
    case 'wrong':
      throw new SqlError(...response.diagnostics);
    case 'broken':
      throw new Error(`an evaluation thread failed: ${response.message}`);
    default:
      return response;
  }
}

/** Copies the bodies into one buffer that is transferred: bodies may be views of larger buffers. */
function packedItems(items: readonly PendingItem[]): PackedItems {
  const lengths = items.map(({ body }) => body.length);
  const bodies = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const { body } of items as readonly { readonly body: Bytes }[]) {
    bodies.set(body, at);
    at += body.length;
  }
  return { bodies, lengths };
}

function tooMuchMemory(): DomainError {
  return new DomainError(
    'invalidInput',
    'The query exceeded the memory that it may take to evaluate; make it simpler, or add a filter.',
  );
}
