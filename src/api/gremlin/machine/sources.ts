/** Instructions of the source: strategies, options, sacks and side effects that a traversal begins with. */
import { compileError } from '../errors.ts';
import { GremlinSet } from '../model/collections.ts';
import { isNumber, toDouble } from '../model/number.ts';
import { Bytecode, type Instruction, Strategy } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';
import { type BinaryOperator, operatorOf } from './operators.ts';

interface SackSettings {
  readonly initial: GremlinValue;
  /** How the sacks of traversers at one place become one; undefined where such traversers stay apart. */
  readonly merge: BinaryOperator | undefined;
}

export interface SubgraphSettings {
  readonly vertices: Bytecode | undefined;
  readonly edges: Bytecode | undefined;
  readonly vertexProperties: Bytecode | undefined;
  /** Whether an edge is there only with both its ends. */
  readonly checksEnds: boolean;
}

export interface PartitionSettings {
  readonly key: string;
  readonly write: GremlinValue | undefined;
  readonly read: readonly GremlinValue[] | undefined;
  readonly includesMeta: boolean;
}

export interface SourceSettings {
  readonly isReadOnly: boolean;
  readonly partition: PartitionSettings | undefined;
  readonly subgraph: SubgraphSettings | undefined;
  /** Keys for which a by() that finds nothing makes null; undefined where it makes nothing. */
  readonly productiveKeys: ReadonlySet<string> | 'all' | undefined;
  readonly seed: number | undefined;
  readonly sideEffects: ReadonlyMap<string, GremlinValue>;
  readonly reducers: ReadonlyMap<string, BinaryOperator>;
  readonly sack: SackSettings | undefined;
  readonly hasBulk: boolean;
  readonly tracksPath: boolean;
  /** System properties of documents that elements show. */
  readonly systemProperties: readonly string[];
  readonly isComputer: boolean;
  /** Keys that no property may be set to. */
  readonly reservedKeys: readonly string[];
  readonly needsEdgeLabels: boolean;
  /** Whether `a.or().b` is read as or(a, b). */
  readonly connects: boolean;
  readonly refusesComputer: boolean;
  /** Milliseconds, where the traversal has a limit of its own. */
  readonly timeoutMs: number | undefined;
  /** Elements come back with their id and label alone. */
  readonly hasTokensOnly: boolean;
}

/** The option of clients that want no properties; it is also an argument of requests. */
export const MATERIALIZE = 'materializeProperties';

type Draft = { -readonly [name in keyof SourceSettings]: SourceSettings[name] };

/** Strategies that only make a traversal faster or describe it: results are the same without them. */
const IGNORED =
  /^(?:AdjacentToIncident|ByModulatorOptimization|ComputerFinalization|ComputerVerification|Connective|Count|CountMatch|EarlyLimit|ElementId|Event|FilterRanking|GraphFilter|HaltedTraverser|IdentityRemoval|IncidentToAdjacent|InlineFilter|LambdaRestriction|LazyBarrier|MatchAlgorithm|MatchPredicate|MessagePassingReduction|NoOpBarrier|OrderLimit|PathProcessor|PathRetraction|ProfileStrategy|Profile|ProviderGraphStep|Reference|ReferenceElement|RemoteStrategy|Remote|RepeatUnroll|SackStrategy|Sack|SideEffect|StandardVerification|TinkerGraphCount|TinkerGraphStep|TinkerMergeEVStep|TraversalVertexProgram|Requirements|VertexProgram|VertexProgramDeny|Warning)(?:Strategy)?$/;

export function sourceSettings(sources: readonly Instruction[]): SourceSettings {
  const settings: Draft = {
    isReadOnly: false,
    partition: undefined,
    subgraph: undefined,
    productiveKeys: undefined,
    seed: undefined,
    sideEffects: new Map(),
    reducers: new Map(),
    sack: undefined,
    hasBulk: true,
    tracksPath: false,
    systemProperties: [],
    isComputer: false,
    reservedKeys: [],
    needsEdgeLabels: false,
    connects: true,
    refusesComputer: false,
    timeoutMs: undefined,
    hasTokensOnly: false,
  };
  for (const source of sources) applySource(source, settings);
  if (settings.isComputer && settings.refusesComputer)
    throw compileError('The TraversalSource does not allow the use of a GraphComputer');
  return settings;
}

function applySource({ name, args }: Instruction, settings: Draft): void {
  const [first, second = null, third] = args;
  switch (name) {
    case 'withStrategies':
      for (const strategy of args) applyStrategy(strategy, settings);
      return;
    case 'withoutStrategies':
      if (args.some((strategy) => CONNECTIVE.test(strategyName(strategy))))
        settings.connects = false;
      return;
    case 'with':
      if (first === 'evaluationTimeout') settings.timeoutMs = millisecondsOf(second);
      if (first === MATERIALIZE) settings.hasTokensOnly = second === 'tokens';
      return;
    case 'withSideEffect':
      applySideEffect(settings, first, second, third);
      return;
    case 'withSack':
      settings.sack = sackOf(args);
      return;
    case 'withBulk':
      settings.hasBulk = first !== false;
      return;
    case 'withPath':
      settings.tracksPath = true;
      return;
    case 'withComputer':
      settings.isComputer = true;
      return;
    default:
      throw compileError(`${name}() is not supported.`);
  }
}

function applySideEffect(
  settings: Draft,
  key: GremlinValue | undefined,
  value: GremlinValue,
  operator: GremlinValue | undefined,
): void {
  if (typeof key !== 'string' || value instanceof Bytecode)
    throw compileError('withSideEffect() needs a name and a value.');
  settings.sideEffects = new Map([...settings.sideEffects, [key, value]]);
  if (operator !== undefined)
    settings.reducers = new Map([...settings.reducers, [key, operatorOf(operator)]]);
}

/** withSack(initial), withSack(initial, merge), withSack(initial, split, merge): splits are closures. */
function sackOf(args: readonly GremlinValue[]): SackSettings {
  const [initial = null, ...others] = args;
  const merge = others.at(-1);
  return { initial, merge: merge === undefined ? undefined : operatorOf(merge) };
}

function applyStrategy(strategy: GremlinValue, settings: Draft): void {
  if (!(strategy instanceof Strategy)) throw compileError('withStrategies() needs strategies.');
  const { name, settings: given } = strategy;
  switch (name) {
    case 'ReadOnlyStrategy':
      settings.isReadOnly = true;
      return;
    case 'PartitionStrategy':
      settings.partition = partitionOf(given);
      return;
    case 'SubgraphStrategy':
      settings.subgraph = subgraphOf(given);
      return;
    case 'ProductiveByStrategy': {
      const keys = listOf(given.get('productiveKeys'));
      settings.productiveKeys = keys.length === 0 ? 'all' : new Set(keys.map(String));
      return;
    }
    case 'SeedStrategy': {
      const seed = given.get('seed') ?? null;
      settings.seed = isNumber(seed) ? toDouble(seed) : 0;
      return;
    }
    case 'OptionsStrategy': {
      const timeout = given.get('evaluationTimeout');
      if (timeout !== undefined) settings.timeoutMs = millisecondsOf(timeout);
      if (given.has(MATERIALIZE)) settings.hasTokensOnly = given.get(MATERIALIZE) === 'tokens';
      return;
    }
    case 'ProjectionStrategy':
      settings.systemProperties = listOf(given.get('IncludeSystemProperties')).map(String);
      return;
    case 'EdgeLabelVerificationStrategy':
      settings.needsEdgeLabels = given.get('throwException') === true;
      return;
    case 'ReservedKeysVerificationStrategy':
      if (given.get('throwException') === true)
        settings.reservedKeys = given.has('keys')
          ? listOf(given.get('keys')).map(String)
          : ['id', 'label'];
      return;
    case 'VertexProgramRestrictionStrategy':
      settings.refusesComputer = true;
      return;
    case 'VertexProgramStrategy':
      settings.isComputer = true;
      return;
    default:
      if (!IGNORED.test(name)) throw compileError(`The strategy ${name} is not supported.`);
  }
}

/** `withoutStrategies()` takes strategies, or their names. */
function strategyName(value: GremlinValue): string {
  return value instanceof Strategy ? value.name : String(value);
}

const CONNECTIVE = /(?:^|\.)ConnectiveStrategy$/;

function listOf(value: GremlinValue | undefined): readonly GremlinValue[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  return value instanceof GremlinSet ? [...value] : [value];
}

function partitionOf(given: Strategy['settings']): PartitionSettings {
  const key = given.get('partitionKey');
  if (typeof key !== 'string') throw compileError('PartitionStrategy needs partitionKey.');
  const read = given.get('readPartitions');
  return {
    key,
    write: given.get('writePartition'),
    read: read === undefined ? undefined : listOf(read),
    includesMeta: given.get('includeMetaProperties') === true,
  };
}

function subgraphOf(given: Strategy['settings']): SubgraphSettings {
  const criterion = (name: string): Bytecode | undefined => {
    const value = given.get(name);
    if (value !== undefined && !(value instanceof Bytecode))
      throw compileError(`SubgraphStrategy needs a traversal for ${name}.`);
    return value;
  };
  return {
    vertices: criterion('vertices'),
    edges: criterion('edges'),
    vertexProperties: criterion('vertexProperties'),
    checksEnds: given.get('checkAdjacentVertices') !== false,
  };
}

function millisecondsOf(value: GremlinValue): number {
  if (!isNumber(value) || !(toDouble(value) > 0))
    throw compileError('evaluationTimeout is a number of milliseconds.');
  return toDouble(value);
}
