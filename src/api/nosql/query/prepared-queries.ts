/**
 * From the text of a query to an executable query: parsed once per text, compiled with its parameters and the policies
 * of the container.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, FIXED_EVALUATION } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Indexing } from '../../../partition/index.ts';
import type { ExecutableQuery } from '../../../query/index.ts';
import type { ScriptRun } from '../../../script/index.ts';
import type { Service } from '../../../service/index.ts';
import { moverOf } from '../evaluation/moved-query.ts';
import {
  autoParameterize,
  type CompiledQuery,
  compileQuery,
  constantFinder,
  executableQuery,
  type KeyRange,
  keyRanges,
  parseQuery,
  type Query,
  type QueryPlan,
  queryPlan,
  SqlError,
} from '../sql/index.ts';
import type { RequestQuery } from './query-body.ts';
import { QueriedContainers } from './query-environment.ts';
import { QueryFunctions } from './query-functions.ts';
import { checkOrder } from './query-order.ts';

const PARSED_QUERIES_MAX = 1000;
/** The characters of all texts together; a tree is some twenty times as large. */
const PARSED_CHARACTERS_MAX = 1024 * 1024;

export interface PreparedQuery {
  readonly query: Query;
  readonly executable: ExecutableQuery;
  readonly indexing: Indexing;
  /** The partition keys that can match. */
  keyRanges(): readonly KeyRange[];
  /** The plan for a client that merges partitions itself. */
  plan(): QueryPlan;
  /** To be called when the query has run. */
  release(): void;
}

/** The parts of the service that queries need. */
export type QueryServices = Pick<Service, 'clock' | 'homes' | 'resources' | 'scripts'>;

export class PreparedQueries {
  readonly #cache = new ParsedQueries();
  readonly #containers: QueriedContainers;
  readonly #clock: Clock;
  readonly #services: QueryServices;

  constructor(services: QueryServices) {
    const { clock, homes } = services;
    this.#services = services;
    this.#clock = clock;
    this.#containers = new QueriedContainers(clock, homes);
  }

  /**
   * Throws SqlError for what is wrong with the query, `invalidInput` where the policy has no index for its order.
   * @param within - the script that runs the query, if any: functions run in its thread.
   */
  prepare(container: ContainerRecord, sent: RequestQuery, within?: ScriptRun): PreparedQuery {
    try {
      const parameterized = sent.parameters.length === 0 ? autoParameterize(sent.text) : undefined;
      if (parameterized !== undefined) return this.#prepare(container, sent, parameterized, within);
    } catch (error) {
      // The error is thrown again for the original text, so that its spans are right.
      if (!(error instanceof SqlError)) throw error;
    }
    return this.#prepare(container, sent, sent, within);
  }

  /** @param same - the same query in a text that may be cached. */
  #prepare(
    container: ContainerRecord,
    sent: RequestQuery,
    same: RequestQuery,
    within: ScriptRun | undefined,
  ): PreparedQuery {
    const { environment, indexing, computed, compileCache, foreign } =
      this.#containers.of(container);
    const { parameters } = same;
    const query = this.#cache.parse(same.text);
    const functions = new QueryFunctions(this.#services, container, within);
    const startMs = this.#clock.nowMs();
    const { geospatial, vectorPolicy, textLanguages } = environment;
    const threadQuery = (moved: Query) => ({
      query: moved === query ? same.text : moved,
      parameters,
      startMs,
      nowMs: this.#clock.nowMs(),
      environment: { geospatial, vectorPolicy, textLanguages },
      computed,
    });
    const compiled = executableQuery(query, {
      environment,
      computed,
      gridOf: (path) => indexing.gridOf(path),
      parameters,
      startMs,
      findUdf: (name) => functions.find(name),
      calls: functions.calls,
      compileCache,
      documentOf: foreign?.documentOf,
      limits: FIXED_EVALUATION,
      // Items of other APIs have values that JSON cannot hold, so they cannot be sent to a thread.
      ...(container.encoding === 'json' && {
        moverOf: (moved: Query) => moverOf(() => threadQuery(moved), moved),
      }),
    });
    const executable = foreign?.adapt(compiled) ?? compiled;
    checkOrder(executable, indexing);
    return {
      query,
      executable,
      indexing,
      keyRanges: () =>
        keyRanges(query, container.partitionKey, constantFinder(parameters, { environment })),
      plan: () => this.plan(container, sent, undefined),
      release: () => functions.release(),
    };
  }

  /** @param features - what the client can do; undefined for everything. */
  plan(
    container: ContainerRecord,
    { text, parameters }: RequestQuery,
    features: readonly string[] | undefined,
  ): QueryPlan {
    const { environment, computed } = this.#containers.of(container);
    const options = { environment, computed, parameters, ...(features && { features }) };
    return withWindow(queryPlan(this.#cache.parse(text), container.partitionKey, options));
  }

  /** Compiles a query over a list of the catalog, which has no policies. */
  compile(text: string): CompiledQuery {
    return compileQuery(this.#cache.parse(text), { environment: { clock: this.#clock } });
  }
}

/** Clients expect both ends of the window of a hybrid search, even where they are null. */
function withWindow(plan: QueryPlan): QueryPlan {
  const { hybridSearchQueryInfo: hybrid } = plan;
  if (!hybrid) return plan;
  const { skip = null, take = null } = hybrid;
  return { ...plan, hybridSearchQueryInfo: { ...hybrid, skip, take } };
}

/** Parsed queries by text: applications send the same few texts with other parameters. */
class ParsedQueries {
  readonly #parsed = new LRUCache<string, Query>({
    max: PARSED_QUERIES_MAX,
    maxSize: PARSED_CHARACTERS_MAX,
    sizeCalculation: (_, text) => text.length + 1,
  });

  /** Throws SqlError. */
  parse(text: string): Query {
    let query = this.#parsed.get(text);
    if (query === undefined) {
      query = parseQuery(text);
      this.#parsed.set(text, query);
    }
    return query;
  }
}
