/** One request of a client to its response: QUERY, PREPARE, EXECUTE and BATCH. */
import { type Bytes, DomainError, equalBytes, type MaybePromise } from '../../base/index.ts';
import { invalid } from './errors.ts';
import { UserCalls, withUserFunctions } from './functions/user-calls.ts';
import { PAGE_ROWS_MAX } from './limits.ts';
import type { PreparedStatement, PreparedStatements } from './prepared-statements.ts';
import { checkAccess } from './roles/access-check.ts';
import type { Caller } from './roles/caller.ts';
import { followSchemaChange } from './roles/role-plan.ts';
import { runBatch } from './statements/batch.ts';
import { isModificationPlan } from './statements/modify.ts';
import type { Call, Environment, Plan, Result, SchemaChange } from './statements/plan.ts';
import { prepareStatement } from './statements/prepare.ts';
import type { LocalNode } from './system/system-rows.ts';
import type { Trace } from './tracing/traces.ts';
import { type BodyReader, type BoundValue, UNSET } from './wire/body-reader.ts';
import { BodyWriter } from './wire/body-writer.ts';
import { OPCODES, type Response } from './wire/envelope.ts';
import { type QueryParameters, readBatch, readQueryParameters } from './wire/requests.ts';
import {
  keyspaceResponse,
  preparedResponse,
  rowsResponse,
  schemaChangeResponse,
  VOID_RESPONSE,
} from './wire/responses.ts';

/** The state of a connection that its requests share. */
export interface Session {
  readonly version: number;
  readonly node: LocalNode;
  readonly clientAddress: string;
  keyspace: string | undefined;
  caller: Caller;
}

/** The body of a request behind its payload. */
export interface ReceivedRequest {
  readonly reader: BodyReader;
  readonly payload: ReadonlyMap<string, Bytes | null>;
  readonly isTraced: boolean;
}

export interface HandledRequest {
  readonly response: Response;
  /** For metrics. */
  readonly operation: string;
  readonly charge: number;
}

interface HandlerOptions {
  /** How long a throttled statement waits before it is refused; 0: not at all. */
  readonly retryWaitMs: number;
  onSchemaChange(change: SchemaChange): void;
}

export class RequestHandler {
  readonly #environment: Environment;
  readonly #prepared: PreparedStatements;
  readonly #options: HandlerOptions;
  #lastMicroseconds = 0n;

  constructor(environment: Environment, prepared: PreparedStatements, options: HandlerOptions) {
    this.#environment = environment;
    this.#prepared = prepared;
    this.#options = options;
  }

  async handle(
    opcode: number,
    request: ReceivedRequest,
    session: Session,
  ): Promise<HandledRequest> {
    switch (opcode) {
      case OPCODES.query:
        return this.#query(request, session);
      case OPCODES.prepare:
        return this.#prepare(request, session);
      case OPCODES.execute:
        return this.#execute(request, session);
      default:
        return this.#batch(request, session);
    }
  }

  #query(request: ReceivedRequest, session: Session): Promise<HandledRequest> {
    const { reader } = request;
    const text = reader.longString();
    const parameters = readQueryParameters(reader, session.version);
    const trace = this.#trace(request, 'QUERY', text, parameters, session);
    const plan = prepareStatement(text, this.#environment, parameters.keyspace ?? session.keyspace);
    trace?.add(`Parsed and prepared: ${plan.operation}`);
    return this.#run(plan, parameters, request, session, { trace });
  }

  #prepare(request: ReceivedRequest, session: Session): HandledRequest {
    const { reader } = request;
    const text = reader.longString();
    const trace = this.#trace(request, 'PREPARE', text, undefined, session);
    const hasKeyspace = session.version >= 5 && (reader.int() & 1) !== 0;
    const keyspace = hasKeyspace ? reader.string() : session.keyspace;
    const { id, metadataId, plan } = this.#prepared.prepare(text, keyspace);
    const { variables, keyIndexes, columns } = plan;
    const description = { id, metadataId, variables, keyIndexes, columns };
    trace?.finish();
    return {
      response: { ...preparedResponse(description, session.version), tracingId: trace?.id },
      operation: 'prepare',
      charge: 0,
    };
  }

  #execute(request: ReceivedRequest, session: Session): Promise<HandledRequest> {
    const { reader } = request;
    const prepared = this.#prepared.find(reader.shortBytes());
    const metadataId = session.version >= 5 ? reader.shortBytes() : prepared.metadataId;
    const parameters = readQueryParameters(reader, session.version);
    const trace = this.#trace(request, 'EXECUTE', prepared.text, parameters, session);
    return this.#run(prepared.plan, parameters, request, session, {
      execution: { prepared, metadataId },
      trace,
    });
  }

  async #run(
    plan: Plan,
    parameters: QueryParameters,
    { payload }: ReceivedRequest,
    session: Session,
    { execution, trace }: { execution?: Execution; trace: Trace | undefined },
  ): Promise<HandledRequest> {
    checkAccess(session.caller, plan.requires ?? [], this.#environment.roles);
    let charge = 0;
    const call: Call = {
      ...this.#callOf(parameters, payload, session, trace),
      values: boundValues(plan, parameters),
      spend: (more) => {
        charge += more;
      },
    };
    const { writes } = this.#environment;
    const isWrite = isModificationPlan(plan) || plan.operation === 'batch';
    const run = () =>
      withUserFunctions(call, (one) => (isWrite ? writes.run(() => plan.run(one)) : plan.run(one)));
    const result = await this.#withRetry(run, plan.operation !== 'batch');
    if (result.kind === 'schemaChange') await followSchemaChange(result.change, call);
    trace?.add(`Done: ${describeResult(result)}, ${charge.toFixed(2)} request units`);
    trace?.finish();
    const response = this.#responseOf(result, parameters, session, execution);
    return {
      response: { ...withCharge(response, charge), tracingId: trace?.id },
      operation: plan.operation,
      charge,
    };
  }

  async #batch(request: ReceivedRequest, session: Session): Promise<HandledRequest> {
    const { reader, payload } = request;
    const { type, entries, parameters } = readBatch(reader, session.version);
    const trace = this.#trace(request, 'BATCH', `${type} batch`, parameters, session);
    let charge = 0;
    const call: Omit<Call, 'values'> = {
      ...this.#callOf(parameters, payload, session, trace),
      spend: (more) => {
        charge += more;
      },
    };
    const keyspace = parameters.keyspace ?? session.keyspace;
    const statements = entries.map(({ statement, values }) => {
      const plan =
        'text' in statement
          ? prepareStatement(statement.text, this.#environment, keyspace)
          : this.#prepared.find(statement.id).plan;
      checkCount(plan, values.length);
      return { plan, values };
    });
    const requires = new Set(statements.flatMap(({ plan }) => plan.requires ?? []));
    checkAccess(session.caller, [...requires], this.#environment.roles);
    trace?.add(`Prepared ${statements.length} statements`);
    const run = () =>
      withUserFunctions({ ...call, values: [] }, (one) =>
        this.#environment.writes.run(() => runBatch(type, statements, one)),
      );
    const result = await this.#withRetry(run, type === 'logged');
    trace?.add(`Done: ${charge.toFixed(2)} request units`);
    trace?.finish();
    const response = this.#responseOf(result, parameters, session, undefined);
    return {
      response: { ...withCharge(response, charge), tracingId: trace?.id },
      operation: 'batch',
      charge,
    };
  }

  /** @param isAtomic - a refused attempt has changed nothing. */
  #withRetry(run: () => Promise<Result>, isAtomic: boolean): MaybePromise<Result> {
    const { retryWaitMs } = this.#options;
    // What was done of others would be done twice: counters would be wrong.
    if (!isAtomic) return run();
    const attempt = () => withoutTruncated(run);
    if (retryWaitMs === 0) return attempt();
    return this.#environment.service.withThrottleWait(retryWaitMs, attempt);
  }

  #trace(
    { isTraced }: ReceivedRequest,
    command: 'QUERY' | 'PREPARE' | 'EXECUTE' | 'BATCH',
    text: string,
    parameters: QueryParameters | undefined,
    { node, clientAddress }: Session,
  ): Trace | undefined {
    if (!isTraced) return undefined;
    return this.#environment.traces.begin({
      command,
      request: REQUEST_NAMES[command],
      client: clientAddress,
      node,
      parameters: {
        query: text.slice(0, TRACED_CHARACTERS_MAX),
        ...(parameters === undefined
          ? {}
          : {
              consistency_level: CONSISTENCY_NAMES[parameters.consistency] ?? 'ONE',
              page_size: String(parameters.pageSize ?? ''),
            }),
      },
    });
  }

  #callOf(
    { timestamp, pageSize, pagingState }: QueryParameters,
    payload: ReadonlyMap<string, Bytes | null>,
    { node, caller, keyspace }: Session,
    trace: Trace | undefined,
  ): Omit<Call, 'values' | 'spend'> {
    const nowMs = this.#environment.clock.nowMs();
    const serverTimestamp = this.#nextMicroseconds(nowMs);
    return {
      environment: this.#environment,
      timestamp: timestamp ?? serverTimestamp,
      serverTimestamp,
      nowSec: Math.floor(nowMs / 1000),
      numbers: { next: 0 },
      pageSize:
        pageSize === undefined || pageSize <= 0 ? undefined : Math.min(pageSize, PAGE_ROWS_MAX),
      pagingState,
      node,
      payload,
      caller,
      keyspace,
      trace,
      userCalls: new UserCalls(),
    };
  }

  /** Grows with every write, so that of two writes of this server the later one wins. */
  #nextMicroseconds(nowMs: number): bigint {
    const now = BigInt(nowMs) * 1000n;
    this.#lastMicroseconds = now > this.#lastMicroseconds ? now : this.#lastMicroseconds + 1n;
    return this.#lastMicroseconds;
  }

  #responseOf(
    result: Result,
    parameters: QueryParameters,
    session: Session,
    execution: Execution | undefined,
  ): Response {
    const response = this.#plainResponse(result, parameters, session, execution);
    const warnings = 'warnings' in result ? result.warnings : undefined;
    return warnings === undefined ? response : { ...response, warnings };
  }

  #plainResponse(
    result: Result,
    { skipsMetadata }: QueryParameters,
    session: Session,
    execution: Execution | undefined,
  ): Response {
    switch (result.kind) {
      case 'void':
        return VOID_RESPONSE;
      case 'keyspace':
        session.keyspace = result.name;
        return keyspaceResponse(result.name);
      case 'schemaChange':
        this.#options.onSchemaChange(result.change);
        return schemaChangeResponse(result.change);
      case 'rows': {
        const isChanged =
          execution !== undefined &&
          !equalBytes(execution.prepared.metadataId, execution.metadataId);
        // The columns of a lightweight transaction depend on its outcome: no client knows them.
        const isFixed = execution?.prepared.plan.columns === result.columns;
        return rowsResponse(result.columns, result.rows, {
          version: session.version,
          skipsMetadata: skipsMetadata && isFixed,
          pagingState: result.pagingState,
          newMetadataId: isChanged && isFixed ? execution.prepared.metadataId : undefined,
        });
      }
    }
  }
}

/** A table may be truncated again while a statement finds its new partitions. */
const TRUNCATED_TRIES_MAX = 100;

/** Again where the partitions went away under the statement: the table was truncated, and has others now. */
async function withoutTruncated(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await run();
    } catch (error) {
      const isGone =
        error instanceof DomainError &&
        (error.code === 'partitionGone' || error.code === 'containerNotFound');
      if (!isGone || tries === TRUNCATED_TRIES_MAX) throw error;
    }
}

/** What EXECUTE says beside its values. */
interface Execution {
  readonly prepared: PreparedStatement;
  readonly metadataId: Bytes;
}

/** Characters of a statement that a trace keeps. */
const TRACED_CHARACTERS_MAX = 1000;

const REQUEST_NAMES = {
  QUERY: 'Execute CQL3 query',
  PREPARE: 'Preparing CQL3 query',
  EXECUTE: 'Execute CQL3 prepared query',
  BATCH: 'Execute batch of CQL3 queries',
} as const;

const CONSISTENCY_NAMES: readonly string[] = [
  'ANY',
  'ONE',
  'TWO',
  'THREE',
  'QUORUM',
  'ALL',
  'LOCAL_QUORUM',
  'EACH_QUORUM',
  'SERIAL',
  'LOCAL_SERIAL',
  'LOCAL_ONE',
];

function describeResult(result: Result): string {
  return result.kind === 'rows' ? `${result.rows.length} rows` : result.kind;
}

function withCharge(response: Response, charge: number): Response {
  const bytes = new BodyWriter(8).double(charge).finish();
  return { ...response, payload: new Map([['RequestCharge', bytes]]) };
}

/** One value for each variable, in order; a name stands for its first variable and all others of that name. */
function boundValues(plan: Plan, { values, names }: QueryParameters): readonly BoundValue[] {
  if (names === undefined) {
    checkCount(plan, values.length);
    return values;
  }
  const byName = new Map(names.map((name, at) => [name, values[at] as BoundValue]));
  return plan.variables.map(({ name }) => byName.get(name) ?? (byName.has(name) ? null : UNSET));
}

function checkCount({ variables }: Plan, count: number): void {
  if (variables.length !== count)
    throw invalid(
      count < variables.length
        ? `Invalid amount of bind variables: expected ${variables.length}, got ${count}`
        : `there were ${variables.length} markers(?) in CQL but ${count} bound variables`,
    );
}
