/** Programs whose rows are made in an evaluation thread. */
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
  Row,
  RowFold,
  Streaming,
} from '../../../query/index.ts';
import type { Value } from '../../../value/index.ts';
import { type Query, SqlError } from '../sql/index.ts';
import { EvaluationPool } from './evaluation-pool.ts';
import type { Answer, EvaluationThread } from './evaluation-thread.ts';
import type { FromThread, RequestProgram, SentItems, ToThread } from './protocol.ts';

/** A thread that has not answered by then is stuck where its own clock is not looked at. */
const GRACE_MS = 500;

/** How long queries that took long begin in a thread; then they may have a chance again. */
const SLOW_MS = 1000;

/** One for the process: its threads are few, whoever asks. They end with it, or when nobody needs them. */
const pool = new EvaluationPool();

/** Until when a query begins in a thread. Queries are the same while their texts are remembered. */
const slowUntilMs = new WeakMap<Query, number>();

const NO_KEYS: readonly Value[] = [];

/** @param query - as the program has it, or one that was made of it. */
export function moverOf(program: () => RequestProgram, query: Query): QueryMover {
  return {
    get isDue() {
      return (slowUntilMs.get(query) ?? 0) > performance.now();
    },
    begin(shape, isSlow): MovedQuery {
      if (isSlow) slowUntilMs.set(query, performance.now() + SLOW_MS);
      const page = new MovedPage(program());
      return {
        shape: shape.kind === 'streaming' ? page.streaming(shape) : page.folding(shape),
        release: () => page.release(),
      };
    },
  };
}

/** A page has one thread, from its first rows to its last, and so much time of it. */
class MovedPage {
  readonly #program: RequestProgram;
  #thread: Promise<EvaluationThread> | undefined;
  #timeLeftMs = EVALUATION_PAGE_MS;

  constructor(program: RequestProgram) {
    this.#program = program;
  }

  streaming({ order, skip, take }: Streaming): Streaming {
    return {
      kind: 'streaming',
      order,
      skip,
      take,
      rowsOf: elsewhere,
      rowsOfMany: (items, mayStop) => this.#rows(items, mayStop),
    };
  }

  folding({ needsEvery }: Blocking): Blocking {
    return { kind: 'folding', needsEvery, start: (wanted) => this.#start(wanted) };
  }

  release(): void {
    this.#thread?.then(
      (thread) => pool.release(thread),
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
    const answer = await this.#ask({ kind: 'rows', ...sentItems(items), rowsGiven, mayStop });
    assert(answer.kind === 'rows', 'rows answer rows');
    return answer.lists.map((rows) =>
      rows.map(([text, keys]) => ({
        value: undefined,
        keys,
        text: text ?? undefined,
        isItem: text === null,
        isLeft: text === undefined,
      })),
    );
  }

  #start(wanted: number | undefined): RowFold {
    let matched = 0;
    return {
      add: elsewhere,
      finish: elsewhere,
      itemsMatched: () => matched,
      async: {
        addMany: async (items) => {
          if (items.length === 0) return true;
          const answer = await this.#ask({ kind: 'add', ...sentItems(items) }, wanted);
          assert(answer.kind === 'added', 'items are added');
          return answer.goesOn;
        },
        finish: async () => {
          const rows: Row[] = [];
          let hasMore = true;
          for (let kind: 'finish' | 'more' = 'finish'; hasMore; kind = 'more') {
            const answer = await this.#ask({ kind }, wanted);
            assert(answer.kind === 'finished', 'a fold is finished');
            for (const text of answer.texts) rows.push({ value: undefined, keys: NO_KEYS, text });
            ({ matched, hasMore } = answer);
          }
          return rows;
        },
      },
    };
  }

  async #ask(question: ToThread, wanted?: number): Promise<FromThread> {
    if (this.#thread === undefined) {
      this.#thread = pool.lease();
      await this.#asked({ ...this.#program, kind: 'begin', wanted });
    }
    return this.#asked(question);
  }

  async #asked(question: ToThread): Promise<FromThread> {
    assert(this.#thread !== undefined, 'a thread was leased');
    const thread = await this.#thread;
    const startedMs = performance.now();
    const answer = await thread.ask(question, Math.max(1, this.#timeLeftMs) + GRACE_MS);
    this.#timeLeftMs -= performance.now() - startedMs;
    return checked(answer);
  }
}

function elsewhere(): never {
  throw new Error('rows are made elsewhere');
}

function checked(answer: Answer): FromThread {
  switch (answer.kind) {
    case 'lost':
      throw answer.isMemory ? tooMuchMemory() : evaluationTimeout();
    case 'refused':
      throw new DomainError(answer.code, answer.message);
    case 'wrong':
      throw new SqlError(...answer.problems);
    case 'broken':
      throw new Error(`an evaluation thread failed: ${answer.message}`);
    default:
      return answer;
  }
}

/** In memory of their own, which is handed over: bodies may be parts of larger buffers. */
function sentItems(items: readonly PendingItem[]): SentItems {
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
