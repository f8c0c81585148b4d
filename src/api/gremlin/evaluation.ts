/** One request: its traversals are compiled, run against one graph, and committed together. */
import { setTimeout } from 'node:timers/promises';
import { DomainError, type ErrorCode, SCRIPT_ATTEMPTS_MAX } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Service } from '../../service/index.ts';
import { compileError, forbidden, runtimeError } from './errors.ts';
import { ContainerGraph } from './graph/container-graph.ts';
import {
  DocumentStore,
  type Reach,
  type StoreOptions,
  type StoreUsage,
} from './graph/document-store.ts';
import type { Flavour } from './graph/flavour.ts';
import { openGraph } from './graph/open-graph.ts';
import { withSystemProperties } from './graph/system-properties.ts';
import type { Statement } from './language/script-parser.ts';
import { BATCH_MAX, RETRY_PAUSE_MS_MAX, TRAVERSAL_MS, TRAVERSAL_MS_MAX } from './limits.ts';
import type { CompiledTraversal } from './machine/compiler.ts';
import { compileTraversal, execute, explanation } from './machine/execute.ts';
import { Pace } from './machine/pace.ts';
import { executionProfile, Profiler } from './machine/profile.ts';
import { referencesIn } from './machine/references.ts';
import { type SourceSettings, sourceSettings } from './machine/sources.ts';
import type { Batches } from './machine/step.ts';
import type { Traverser } from './machine/traverser.ts';
import { GremlinMap, GremlinSet, MapEntry } from './model/collections.ts';
import { isNumber, toDouble } from './model/number.ts';
import { BulkedResult, Bytecode } from './model/terms.ts';
import { tokensOnly } from './model/tokens-only.ts';
import type { GremlinValue } from './model/value.ts';
import type { Session } from './sessions.ts';

interface EvaluationRequest {
  readonly statements: readonly Statement[];
  /** `/dbs/<database>/colls/<graph>`. */
  readonly graphPath: string;
  readonly mayWrite: boolean;
  /** False where the caller's token is for another container. */
  readonly mayOpen?: ((container: ContainerRecord) => boolean) | undefined;
  /** Undefined where the caller may reach everything. */
  readonly reach?: Reach | undefined;
  /** Elements come back with their id and label alone. */
  readonly hasTokensOnly?: boolean | undefined;
  /** Results of bytecode have their bulk; those of scripts are repeated. */
  readonly hasBulk: boolean;
  /** The text that the client sent, for profiles. */
  readonly text?: string | undefined;
  /** Undefined where the request is by itself. */
  readonly session?: Session | undefined;
  readonly timeoutMs: number | undefined;
  readonly isCancelled: () => boolean;
}

/** What a statement asks of the transaction. */
type Demand = 'begin' | 'commit' | 'rollback' | 'isOpen';

interface Prepared {
  readonly statement: Statement;
  readonly traversal: CompiledTraversal | undefined;
  readonly demand: Demand | undefined;
  readonly profile: 'profile' | 'executionProfile' | undefined;
  readonly settings: SourceSettings;
}

export class Evaluation {
  readonly #request: EvaluationRequest;
  readonly #service: Service;
  readonly #container: ContainerRecord;
  readonly #flavour: Flavour;
  readonly #prepared: readonly Prepared[];
  readonly #pace: Pace;
  readonly #deadlineMs: number;
  readonly usage: StoreUsage = { charge: 0, partitionCalls: 0, documentsLoaded: 0, bytesLoaded: 0 };

  /** Throws where the graph is missing or a traversal cannot be compiled. */
  constructor(service: Service, request: EvaluationRequest) {
    this.#request = request;
    const { container, flavour } = openGraph(service, request.graphPath);
    if (request.mayOpen?.(container) === false) throw forbidden('The token is for another graph.');
    this.#service = service;
    this.#container = container;
    const { partitionProperty } = flavour;
    this.#prepared = request.statements.map((each) => this.#prepare(each, partitionProperty));
    const shown = this.#prepared.flatMap(({ settings }) => settings.systemProperties);
    this.#flavour = withSystemProperties(flavour, shown);
    const limitMs = this.#limitMs();
    this.#pace = new Pace(limitMs, request.isCancelled);
    this.#deadlineMs = service.clock.nowMs() + limitMs;
  }

  /** The least that the request and its traversals ask for, within the bound of this server. */
  #limitMs(): number {
    const asked = [this.#request, ...this.#prepared.map(({ settings }) => settings)].flatMap(
      ({ timeoutMs }) => timeoutMs ?? [],
    );
    return asked.length === 0 ? TRAVERSAL_MS : Math.min(...asked, TRAVERSAL_MS_MAX);
  }

  #prepare(statement: Statement, partitionProperty: string | undefined): Prepared {
    const { value } = statement;
    const nothing = { traversal: undefined, demand: undefined, profile: undefined };
    if (!(value instanceof Bytecode))
      return { statement, ...nothing, settings: sourceSettings([]) };
    const demand = demandOf(value);
    if (demand !== undefined)
      return { statement, ...nothing, demand, settings: sourceSettings([]) };
    const settings = sourceSettings(value.sources);
    const { bytecode, profile } = withoutProfile(value);
    const traversal = compileTraversal(bytecode, settings, partitionProperty);
    if (traversal.writes && settings.isReadOnly)
      throw compileError('The provided traversal has a mutating step and thus is not read only.');
    if (traversal.writes && !this.#request.mayWrite)
      throw forbidden('The key is for reading only.');
    return { statement, traversal, demand, profile, settings };
  }

  /** Batches of results, made when they are asked for. Where something is written, they come after the commit. */
  async *results(): AsyncGenerator<readonly GremlinValue[]> {
    const { session } = this.#request;
    if (session !== undefined) {
      yield* await session.inTurn(() => this.#inSession(session));
      return;
    }
    if (this.#prepared.some(({ traversal }) => traversal?.writes === true)) {
      yield* await this.#write();
      return;
    }
    yield* this.#runAll(new ContainerGraph(this.#store(false), this.#flavour));
  }

  #store(isTransactional: boolean): DocumentStore {
    return new DocumentStore(this.#service, this.#container, {
      isTransactional,
      // The time of a request bounds what it reads; its commit may take longer.
      lifetimeMs: TRAVERSAL_MS_MAX,
      ...this.#storeOptions(),
    });
  }

  #storeOptions(): Pick<StoreOptions, 'usage' | 'interruption' | 'reach'> {
    const { isCancelled, reach } = this.#request;
    return {
      usage: this.usage,
      reach,
      interruption: {
        deadlineMs: this.#deadlineMs,
        client: {
          get isGone() {
            return isCancelled();
          },
        },
      },
    };
  }

  /** All statements in the transaction of the session. One that fails rolls it back: nothing is half applied. */
  async #inSession(session: Session): Promise<readonly (readonly GremlinValue[])[]> {
    const results: (readonly GremlinValue[])[] = [];
    const last = this.#prepared.at(-1);
    try {
      for (const prepared of this.#prepared) {
        if (prepared.demand === 'commit') await session.commit();
        else if (prepared.demand === 'rollback') await session.rollback();
        else {
          const graph = session.graph(this.#container, this.#flavour, this.#storeOptions());
          for await (const batch of this.#run(prepared, graph))
            if (prepared === last) {
              this.#pace.hold(batch.length);
              results.push(batch);
            }
        }
      }
    } catch (error) {
      await session.rollback();
      throw error;
    }
    return results;
  }

  /** Runs everything again where others have changed what it read. */
  async #write(): Promise<readonly (readonly GremlinValue[])[]> {
    for (let attempt = 1; ; attempt++) {
      const store = this.#store(true);
      const graph = new ContainerGraph(store, this.#flavour);
      try {
        const results: (readonly GremlinValue[])[] = [];
        let held = 0;
        for await (const batch of this.#runAll(graph)) {
          this.#pace.hold(batch.length);
          held += batch.length;
          results.push(batch);
        }
        this.#pace.release(held);
        await graph.commit();
        return results;
      } catch (error) {
        if (!isConflict(error, store) || attempt >= SCRIPT_ATTEMPTS_MAX) throw error;
        this.#pace.check();
      } finally {
        await store.abort();
      }
      await pauseBefore(attempt + 1);
    }
  }

  /** The results of the last statement. */
  async *#runAll(graph: ContainerGraph): AsyncGenerator<readonly GremlinValue[]> {
    const last = this.#prepared.at(-1);
    for (const prepared of this.#prepared) {
      // A request by itself is a transaction: only what it takes back changes anything.
      if (prepared.demand === 'rollback') graph.rollback();
      for await (const batch of this.#run(prepared, graph)) if (prepared === last) yield batch;
    }
  }

  async *#run(prepared: Prepared, graph: ContainerGraph): AsyncGenerator<readonly GremlinValue[]> {
    const { statement, traversal, demand } = prepared;
    if (demand !== undefined) {
      if (demand === 'isOpen') yield [true];
      return;
    }
    if (traversal === undefined) {
      yield membersOf(statement.value);
      return;
    }
    const { terminal } = statement;
    if (terminal?.name === 'explain') {
      yield [explanation(statement.value as Bytecode, traversal)];
      return;
    }
    const batches = this.#traverse(prepared, traversal, graph);
    if (terminal === undefined || terminal.name === 'toList' || terminal.name === 'toBulkSet')
      yield* batches;
    else yield await finished(batches, terminal, this.#pace);
  }

  /** Where the request is traced, its steps are measured. */
  #execute(traversal: CompiledTraversal, parts: Parameters<typeof execute>[1]): Batches {
    const { trace } = this.#service;
    if (!trace.isOn) return execute(traversal, parts);
    const profiler = new Profiler(this.usage);
    trace.noteSteps(() =>
      profiler.metrics().steps.map(({ elements, ...step }) => ({ ...step, rows: elements })),
    );
    return execute(traversal, { ...parts, measure: profiler.measure });
  }

  async *#traverse(
    { settings, profile }: Prepared,
    traversal: CompiledTraversal,
    graph: ContainerGraph,
  ): AsyncGenerator<readonly GremlinValue[]> {
    const { hasBulk, text = '' } = this.#request;
    const parts = { graph, pace: this.#pace, settings };
    if (profile !== undefined) {
      const profiler = new Profiler(this.usage);
      for await (const _ of execute(traversal, { ...parts, measure: profiler.measure }));
      const metrics = profiler.metrics();
      const result = profile === 'profile' ? metrics : executionProfile(text, metrics);
      yield [hasBulk ? new BulkedResult(result, 1) : result];
      return;
    }
    const results = this.#execute(traversal, parts);
    for await (const batch of results) {
      const references = batch.flatMap(({ value }) => referencesIn(value));
      if (references.length > 0) await graph.load(references);
      const found = batch.filter(({ value }) => !isMissing(value));
      const present =
        this.#request.hasTokensOnly === true || settings.hasTokensOnly
          ? found.map((traverser) => traverser.with({ value: tokensOnly(traverser.value) }))
          : found;
      if (hasBulk) yield present.map(bulked);
      else
        for (const results of repeated(present)) {
          yield results;
          await this.#pace.spend(results.length);
        }
    }
  }
}

/** Two that began together would meet again: from the third attempt on, each waits for a time of its own. */
async function pauseBefore(attempt: number): Promise<void> {
  if (attempt > 2) await setTimeout(Math.random() * Math.min(2 ** attempt, RETRY_PAUSE_MS_MAX));
}

const DEMANDS: Readonly<Record<string, Demand>> = {
  begin: 'begin',
  open: 'begin',
  commit: 'commit',
  rollback: 'rollback',
  isOpen: 'isOpen',
  close: 'rollback',
};

/** `g.tx().commit()` in a script; in bytecode an instruction of the source. */
function demandOf({ sources, steps }: Bytecode): Demand | undefined {
  const tx = sources.find(({ name }) => name === 'tx');
  if (tx === undefined) return undefined;
  const word = steps[0]?.name ?? String(tx.args[0] ?? 'begin');
  const demand = DEMANDS[word] ?? DEMANDS[word.toLowerCase()];
  if (demand === undefined) throw compileError(`Unable to find any method 'tx().${word}'.`);
  return demand;
}

/** profile() and executionProfile() end a traversal, and are not steps of it. */
function withoutProfile(bytecode: Bytecode): {
  readonly bytecode: Bytecode;
  readonly profile: Prepared['profile'];
} {
  const { sources, steps } = bytecode;
  const name = steps.at(-1)?.name;
  if ((name !== 'profile' && name !== 'executionProfile') || steps.length < 2)
    return { bytecode, profile: undefined };
  return { bytecode: new Bytecode(sources, steps.slice(0, -1)), profile: name };
}

const CONFLICTS: ReadonlySet<ErrorCode> = new Set([
  'retryWith',
  'preconditionFailed',
  'itemNotFound',
]);

/** Others wrote what was read: the same traversal may succeed now. */
function isConflict(error: unknown, store: DocumentStore): boolean {
  if (!(error instanceof DomainError)) return false;
  // An item may have come into being after it was looked for.
  return CONFLICTS.has(error.code) || (error.code === 'itemExists' && store.sawAbsent);
}

/** A vertex that an edge names and that does not exist. */
function isMissing(value: GremlinValue): boolean {
  return referencesIn(value)[0] === value;
}

function bulked({ value, bulk }: Traverser): BulkedResult {
  return new BulkedResult(value, bulk);
}

/** Each value as often as its bulk says, in batches: a bulk may be larger than any list. */
function* repeated(traversers: readonly Traverser[]): Generator<readonly GremlinValue[]> {
  let results: GremlinValue[] = [];
  for (const { value, bulk } of traversers)
    for (let left = bulk; left > 0; left--) {
      results.push(value);
      if (results.length < BATCH_MAX) continue;
      yield results;
      results = [];
    }
  if (results.length > 0) yield results;
}

/** A constant as a script's result: the members of a collection are results of their own. */
function membersOf(value: GremlinValue): readonly GremlinValue[] {
  if (Array.isArray(value)) return value;
  if (value instanceof GremlinSet) return [...value];
  if (value instanceof GremlinMap) return [...value].map(([key, each]) => new MapEntry(key, each));
  return [value];
}

/** The results of a call that ends a script's traversal. */
async function finished(
  batches: AsyncGenerator<readonly GremlinValue[]>,
  { name, args: [amount] }: NonNullable<Statement['terminal']>,
  pace: Pace,
): Promise<readonly GremlinValue[]> {
  const wanted =
    name === 'next' ? (isNumber(amount ?? null) ? toDouble(amount as number) : 1) : undefined;
  const all: GremlinValue[] = [];
  for await (const batch of batches) {
    if (name === 'iterate') continue;
    pace.hold(batch.length);
    for (const value of batch) all.push(value);
    if ((wanted !== undefined && all.length >= wanted) || name === 'hasNext') break;
  }
  switch (name) {
    case 'next':
      if (all.length === 0 && amount === undefined)
        throw runtimeError('next() found no result: the traversal is empty.');
      return all.slice(0, wanted);
    case 'tryNext':
      return all.slice(0, 1);
    case 'hasNext':
      return [all.length > 0];
    case 'iterate':
      return [];
    default:
      return [...new GremlinSet(all)];
  }
}
