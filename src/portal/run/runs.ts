/** Requests under way, each with a name by which it can be cancelled. */
import { randomUUID } from 'node:crypto';
import { DomainError, newTrace, type RequestTrace } from '../../base/index.ts';
import type { Service } from '../../service/index.ts';
import { isList, type Value, type ValueMap } from '../../value/index.ts';
import { explainTrace } from './explanation.ts';
import { RunError } from './run-error.ts';
import { RUN_APIS, type RunApi, type Runner, type RunPage, type RunRequest } from './runner.ts';

/** Runs at a time: people run one, a page with several parts some. */
const RUNS_MAX = 64;
const ROWS_MAX = 10_000;
const ROWS_DEFAULT = 100;
/** A throttled request is sent again for this long. */
const RETRY_MS_MAX = 10_000;
/** A person does not wait for longer. */
const RUN_MS_MAX = 120_000;
const TEXT_LENGTH_MAX = 512 * 1024;

interface Caller {
  readonly mayWrite: boolean;
  readonly client: { readonly isGone: boolean };
}

export class Runs {
  readonly #runners: Readonly<Partial<Record<RunApi, Runner>>>;
  readonly #service: Service;
  readonly #running = new Map<string, AbortController>();

  constructor(runners: Readonly<Partial<Record<RunApi, Runner>>>, service: Service) {
    this.#runners = runners;
    this.#service = service;
  }

  /** The result as JSON. Throws DomainError for what is no request; what an API refuses is part of the result. */
  async run(body: ValueMap, caller: Caller): Promise<string> {
    const id = typeof body.id === 'string' && body.id.length <= 100 ? body.id : randomUUID();
    if (this.#running.has(id)) throw new DomainError('invalidInput', 'This id is in use.');
    if (this.#running.size >= RUNS_MAX)
      throw new DomainError('unavailable', 'Too many requests are under way.');
    const controller = new AbortController();
    const request = requestOf(body, caller.mayWrite, controller.signal);
    const runner = this.#runners[request.api];
    if (runner === undefined)
      throw new DomainError('invalidInput', `The API ${request.api} is not part of this server.`);
    this.#running.set(id, controller);
    const cancelled = new DomainError('queryTimeout', 'The request was cancelled.');
    const timeout = new DomainError('queryTimeout', `It took more than ${RUN_MS_MAX / 1000} s.`);
    const timer = setTimeout(() => controller.abort(timeout), RUN_MS_MAX);
    const watch = setInterval(() => caller.client.isGone && controller.abort(cancelled), 500);
    try {
      return await this.#run(request, runner);
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      this.#running.delete(id);
    }
  }

  /** True where it was under way. */
  cancel(id: string): boolean {
    const controller = this.#running.get(id);
    controller?.abort(new DomainError('queryTimeout', 'The request was cancelled.'));
    return controller !== undefined;
  }

  async #run(request: RunRequest, runner: Runner): Promise<string> {
    const startedMs = performance.now();
    let retries = 0;
    for (;;) {
      const trace = newTrace();
      try {
        const page = await this.#service.trace.collect(trace, () => runner(request));
        return this.#print(request, page, { trace, retries, startedMs });
      } catch (error) {
        if (request.signal.aborted) return printRefusal(request.signal.reason, retries, startedMs);
        const waitMs = retryAfterMs(error);
        const isOver = performance.now() - startedMs + (waitMs ?? 0) > RETRY_MS_MAX;
        if (waitMs === undefined || isOver) return printRefusal(error, retries, startedMs);
        retries++;
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }

  #print(
    request: RunRequest,
    page: RunPage,
    run: {
      readonly trace: RequestTrace;
      readonly retries: number;
      readonly startedMs: number;
    },
  ): string {
    const database = this.#service.databases.find(request.db);
    const container = database && this.#service.containers.find(database, request.container);
    const explain =
      page.explain ??
      explainTrace({
        ...run.trace,
        returned: page.rows.length,
        isFiltering: page.isFiltering === true,
        partitionCount: container?.partitions.length ?? 0,
        keyText: container?.partitionKey.paths.join(', ') ?? 'its key',
        charge: page.charge,
      });
    const head = JSON.stringify({
      columns: page.columns,
      charge: Math.round(page.charge * 100) / 100,
      ms: Math.round((performance.now() - run.startedMs) * 10) / 10,
      partitions: explain.fanOut.read,
      retries: run.retries,
      continuation: page.continuation ?? null,
      warnings: page.warnings ?? [],
      vertexPartitions: page.vertexPartitions,
      ...(request.wantsExplain && { explain }),
    });
    // Rows are texts already: what an API prints is passed on as it is.
    return `${head.slice(0, -1)},"rows":[${page.rows.join(',')}]}`;
  }
}

function retryAfterMs(error: unknown): number | undefined {
  return error instanceof DomainError || error instanceof RunError ? error.retryAfterMs : undefined;
}

/** Refusals are answers: the request to run was right, and the page shows them beside the query. */
function printRefusal(error: unknown, retries: number, startedMs: number): string {
  const isKnown = error instanceof RunError || error instanceof DomainError;
  if (!isKnown) throw error;
  return JSON.stringify({
    error: {
      code: error.code,
      message: error.message,
      activityId: error instanceof RunError ? error.activityId : undefined,
    },
    ms: Math.round((performance.now() - startedMs) * 10) / 10,
    retries,
  });
}

function requestOf(body: ValueMap, mayWrite: boolean, signal: AbortSignal): RunRequest {
  const { db, container, text, limit, continuation, key, explain } = body;
  const api = RUN_APIS.find((name) => name === body.api);
  if (api === undefined)
    throw new DomainError('invalidInput', `api is one of ${RUN_APIS.join(', ')}.`);
  if (typeof db !== 'string' || typeof container !== 'string' || typeof text !== 'string')
    throw new DomainError('invalidInput', 'db, container and text are needed.');
  if (text.length > TEXT_LENGTH_MAX) throw new DomainError('tooLarge', 'The text is too long.');
  return {
    api,
    db,
    container,
    text,
    parameters: body.parameters,
    key: isList(key) ? (key as readonly Value[]) : undefined,
    limit: Math.min(
      ROWS_MAX,
      typeof limit === 'number' && limit >= 1 ? Math.floor(limit) : ROWS_DEFAULT,
    ),
    continuation:
      typeof continuation === 'string' && continuation !== '' ? continuation : undefined,
    wantsExplain: explain === true,
    mayWrite,
    signal,
  };
}
