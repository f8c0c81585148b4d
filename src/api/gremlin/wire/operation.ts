/** The operations of requests: scripts, bytecode, and the end of a session. */
import type { Service } from '../../../service/index.ts';
import { CODES, malformedRequest, syntaxError } from '../errors.ts';
import { Evaluation } from '../evaluation.ts';
import type { GremlinRequest } from '../io/message.ts';
import { parseScript, type Statement } from '../language/script-parser.ts';
import { RESULT_BATCH, RESULT_BATCH_MAX, SCRIPT_LENGTH_MAX } from '../limits.ts';
import { MATERIALIZE } from '../machine/sources.ts';
import { GremlinMap } from '../model/collections.ts';
import { isNumber, toDouble } from '../model/number.ts';
import { Bytecode } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import type { Sessions } from '../sessions.ts';
import type { Login } from './login.ts';

type OperationName = 'eval' | 'bytecode' | 'close' | 'none';

/** For metrics: one of few names. */
export function operationOf({ op }: GremlinRequest): OperationName {
  return op === 'eval' || op === 'bytecode' || op === 'close' ? op : 'none';
}

interface EvaluationContext {
  readonly isCancelled: () => boolean;
  /** Undefined where there are no sessions, as over plain HTTP. */
  readonly sessions: Sessions | undefined;
}

/** The id of the session that a request belongs to. */
export function sessionOf(args: GremlinMap): string {
  const id = args.get('session');
  if (typeof id === 'string' && id !== '') return id;
  if (id instanceof Uuid) return id.text;
  throw malformedRequest(
    'A message for the [session] processor requires a [session] argument.',
    CODES.invalidArguments,
  );
}

function textArgument(args: GremlinMap): string | undefined {
  const text = args.get('gremlin');
  return typeof text === 'string' ? text : undefined;
}

const PROCESSORS: ReadonlySet<string> = new Set(['', 'session', 'traversal']);

/** Throws a GremlinError where the request is wrong. */
export function evaluationOf(
  request: GremlinRequest,
  service: Service,
  { graphPath, mayWrite, mayOpen, reach }: Login,
  { isCancelled, sessions }: EvaluationContext,
): Evaluation {
  const { op, processor, args } = request;
  if (!PROCESSORS.has(processor) || operationOf(request) === 'none')
    throw malformedRequest(`Message with op code [${op}] is not recognized.`);
  const statements = op === 'eval' ? scriptOf(args) : [bytecodeOf(args)];
  return new Evaluation(service, {
    statements,
    graphPath: pathOf(graphPath, statements, args.get('aliases') ?? null),
    mayWrite,
    mayOpen,
    reach,
    hasTokensOnly: args.get(MATERIALIZE) === 'tokens',
    hasBulk: op === 'bytecode',
    text: textArgument(args),
    session: processor === 'session' ? sessions?.get(sessionOf(args)) : undefined,
    timeoutMs: numberOf(args, 'evaluationTimeout') ?? numberOf(args, 'scriptEvaluationTimeout'),
    isCancelled,
  });
}

/** The name of the graph of the login. */
const OWN_GRAPH = 'g';

/**
 * The graph that the traversals begin with: that of the login, or one of the same database that the script or an alias
 * of the request names.
 */
function pathOf(own: string, statements: readonly Statement[], aliases: GremlinValue): string {
  const names = new Set<string>();
  for (const { source } of statements) {
    if (source === undefined) continue;
    const alias = aliases instanceof GremlinMap ? aliases.get(source) : undefined;
    names.add(typeof alias === 'string' ? alias : source);
  }
  if (names.size > 1)
    throw malformedRequest('A request works on one graph.', CODES.invalidArguments);
  const [name = OWN_GRAPH] = names;
  if (name === OWN_GRAPH) return own;
  return own.replace(/\/colls\/[^/]*\/?$/, `/colls/${name}`);
}

function scriptOf(args: GremlinMap): readonly Statement[] {
  const script = args.get('gremlin');
  if (typeof script !== 'string')
    throw malformedRequest(
      'A message with [eval] op code requires a [gremlin] argument.',
      CODES.invalidArguments,
    );
  if (script.length > SCRIPT_LENGTH_MAX)
    throw syntaxError(`The script is longer than ${SCRIPT_LENGTH_MAX} characters.`);
  const statements = parseScript(script, bindingsOf(args.get('bindings') ?? null));
  if (statements.length === 0) throw syntaxError('The script has no statements.');
  return statements;
}

function bindingsOf(bindings: GremlinValue): ReadonlyMap<string, GremlinValue> {
  if (bindings === null) return new Map();
  if (!(bindings instanceof GremlinMap))
    throw malformedRequest('The [bindings] argument must be a map.', CODES.invalidArguments);
  return new Map([...bindings].map(([name, value]) => [String(name), value]));
}

function bytecodeOf(args: GremlinMap): Statement {
  const value = args.get('gremlin');
  if (!(value instanceof Bytecode))
    throw malformedRequest(
      'A message with [bytecode] op code requires a [gremlin] argument.',
      CODES.invalidArguments,
    );
  return { value, source: 'g', terminal: undefined };
}

/** Results in one message. */
export function batchSizeOf({ args }: GremlinRequest): number {
  const size = Math.floor(numberOf(args, 'batchSize') ?? RESULT_BATCH);
  return Math.min(Math.max(1, size), RESULT_BATCH_MAX);
}

function numberOf(args: GremlinMap, name: string): number | undefined {
  const value = args.get(name);
  return value !== undefined && isNumber(value) && toDouble(value) > 0
    ? toDouble(value)
    : undefined;
}
