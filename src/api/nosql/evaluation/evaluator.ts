/** Runs inside an evaluation thread: evaluates the query of one page at a time. */
import {
  assert,
  DomainError,
  EVALUATION_PAGE_MS,
  EVALUATION_PAGE_TARGET_MS,
  PAGE_BYTES_MAX,
  systemRandom,
  threadEvaluation,
} from '../../../base/index.ts';
import {
  type FoundItem,
  looseItem,
  type RowFold,
  rowTooLarge,
  type Streaming,
} from '../../../query/index.ts';
import { jsonCodec, printedSize, type Value } from '../../../value/index.ts';
import { executableQuery, parseQuery } from '../sql/index.ts';
import type {
  PackedItems,
  SentRow,
  ThreadQuery,
  ThreadRequest,
  ThreadResponse,
} from './protocol.ts';

/** Characters of the rows of one batch where all have to be kept: they wait in memory to be sorted. */
const BATCH_CHARACTERS_MAX = 8 * PAGE_BYTES_MAX;

/** Rows and characters of one response: the main thread reads them in a millisecond or two. */
const RESPONSE_ROWS = 5000;
const RESPONSE_CHARACTERS = 1024 * 1024;

export class Evaluator {
  #shape: Streaming | undefined;
  #fold: RowFold | undefined;
  /** The results of a finished fold that are not sent yet. */
  #results: Iterator<Value> | undefined;

  response(request: ThreadRequest): ThreadResponse {
    switch (request.kind) {
      case 'begin':
        return this.#begin(request, request.wanted);
      case 'rows':
        return this.#rows(request, request.rowsGiven, request.mayStop);
      case 'add':
        return this.#add(request);
      case 'finish':
        this.#results = this.#finish();
        return this.#more();
      case 'more':
        return this.#more();
    }
  }

  #begin(threadQuery: ThreadQuery, wanted: number | undefined): ThreadResponse {
    const { query, parameters, startMs, nowMs, environment, computed } = threadQuery;
    const parsed = typeof query === 'string' ? parseQuery(query) : query;
    const { shape } = executableQuery(parsed, {
      parameters,
      startMs,
      environment: { ...environment, clock: { nowMs: () => nowMs }, random: systemRandom },
      computed,
      limits: threadEvaluation(EVALUATION_PAGE_MS),
    });
    this.#fold = shape.kind === 'blocking' ? shape.start(wanted) : undefined;
    this.#shape = shape.kind === 'streaming' ? shape : undefined;
    return { kind: 'begun' };
  }

  #rows(items: PackedItems, rowsGiven: number, mayStop: boolean): ThreadResponse {
    assert(this.#shape !== undefined, 'a streaming query has begun');
    const untilMs = performance.now() + EVALUATION_PAGE_TARGET_MS;
    const lists: (readonly SentRow[])[] = [];
    let characters = 0;
    for (const item of itemsOf(items)) {
      const given = lists.length === 0 ? rowsGiven : 0;
      const rows = this.#shape.rowsOf(item).map(({ item: whole, value, keys }, at): SentRow => {
        if (whole !== undefined) return [null, keys];
        // The page has no room for more rows, and starts after those sent before.
        if (at < given || (mayStop && characters > PAGE_BYTES_MAX)) return [undefined, keys];
        const text = printed(value);
        characters += text.length;
        if (characters > BATCH_CHARACTERS_MAX) throw tooLargeToSort();
        return [text, keys];
      });
      lists.push(rows);
      if (mayStop && (performance.now() > untilMs || characters > PAGE_BYTES_MAX)) break;
    }
    return { kind: 'rows', lists };
  }

  #add(items: PackedItems): ThreadResponse {
    assert(this.#fold !== undefined, 'a blocking query has begun');
    for (const item of itemsOf(items))
      if (!this.#fold.add(item)) return { kind: 'added', wantsMore: false };
    return { kind: 'added', wantsMore: true };
  }

  #finish(): Iterator<Value> {
    assert(this.#fold !== undefined, 'a blocking query has begun');
    return this.#fold.finish().values();
  }

  #more(): ThreadResponse {
    const texts: string[] = [];
    let characters = 0;
    let next = this.#results?.next();
    while (next?.done === false) {
      const text = printed(next.value);
      characters += text.length;
      texts.push(text);
      if (characters > RESPONSE_CHARACTERS || texts.length >= RESPONSE_ROWS) break;
      next = this.#results?.next();
    }
    const matched = this.#fold?.itemsMatched?.() ?? 0;
    return { kind: 'finished', texts, matched, hasMore: next?.done === false };
  }
}

function* itemsOf({ bodies, lengths }: PackedItems): Generator<FoundItem> {
  let at = 0;
  for (const length of lengths) {
    const body = bodies.subarray(at, at + length);
    yield looseItem({ value: () => jsonCodec.decode(body), body });
    at += length;
  }
}

function printed(value: Value): string {
  if (printedSize(value, PAGE_BYTES_MAX) > PAGE_BYTES_MAX) throw rowTooLarge();
  return JSON.stringify(value);
}

function tooLargeToSort(): DomainError {
  return new DomainError(
    'invalidInput',
    'The rows of the query are too large to be sorted; select less of the items.',
  );
}
