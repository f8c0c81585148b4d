/**
 * From instructions to steps. First modulators are put to the steps that they modulate (`clauses.ts`), then every step
 * is made by its entry in the table.
 */
import { compileError } from '../errors.ts';
import { STEPS_MAX } from '../limits.ts';
import { Bytecode, EnumValue, type Instruction, Predicate } from '../model/terms.ts';
import { textOf } from '../model/text.ts';
import type { GremlinValue } from '../model/value.ts';
import { type Clause, connected, gatherClauses } from './clauses.ts';
import type { SourceSettings } from './sources.ts';
import { batchStep, Pipeline, type Step } from './step.ts';
import { labelled } from './traverser.ts';

export type StepFactory = (clause: Clause, compiler: Compiler) => Step;
export type StepTable = Readonly<Record<string, StepFactory>>;

/** Steps that look at more than one traverser at a time. With the scope `local` they do not. */
const STATEFUL: ReadonlySet<string> = new Set([
  'count',
  'sum',
  'min',
  'max',
  'mean',
  'fold',
  'group',
  'groupCount',
  'order',
  'dedup',
  'limit',
  'range',
  'skip',
  'tail',
  'aggregate',
  'cap',
  'barrier',
  'sample',
  'tree',
]);

const WRITING: ReadonlySet<string> = new Set([
  'addV',
  'addE',
  'property',
  'drop',
  'mergeV',
  'mergeE',
]);

/** Steps that need to know where a traverser has been. */
const PATH_STEPS: ReadonlySet<string> = new Set(['path', 'simplePath', 'cyclicPath', 'tree']);
const LABEL_STEPS: ReadonlySet<string> = new Set(['as', 'match']);

function pathKindOf(
  names: readonly string[],
  { tracksPath }: SourceSettings,
): CompiledTraversal['pathKind'] {
  if (tracksPath || names.some((name) => PATH_STEPS.has(name))) return 'full';
  return names.some((name) => LABEL_STEPS.has(name)) ? 'labels' : 'none';
}

/** Steps that collect values under a name. */
const COLLECTING: ReadonlySet<string> = new Set([
  'aggregate',
  'store',
  'group',
  'groupCount',
  'tree',
  'subgraph',
]);

function collects({ name, args }: Instruction): boolean {
  return COLLECTING.has(name) && typeof args.at(-1) === 'string';
}

function collectedIn(value: GremlinValue): Map<string, 'list' | 'map'> {
  const found = new Map<string, 'list' | 'map'>();
  for (const step of instructionsIn(value))
    if (collects(step) && step.name !== 'tree' && step.name !== 'subgraph')
      found.set(String(step.args.at(-1)), step.name.startsWith('group') ? 'map' : 'list');
  return found;
}

export interface CompiledTraversal {
  readonly pipeline: Pipeline;
  readonly pathKind: 'none' | 'labels' | 'full';
  /** Names under which steps collect values, and which of them make maps. */
  readonly collected: ReadonlyMap<string, 'list' | 'map'>;
  readonly writes: boolean;
}

/** Compiles the steps of a traversal; the instructions of its source are for the caller. */
export function compile(
  bytecode: Bytecode,
  table: StepTable,
  settings: SourceSettings,
): CompiledTraversal {
  const names = namesIn(bytecode);
  if (names.length > STEPS_MAX)
    throw compileError(`The traversal has more than ${STEPS_MAX} steps.`);
  const compiler = new Compiler(table, settings);
  return {
    pipeline: compiler.pipeline(bytecode, true),
    pathKind: pathKindOf(names, settings),
    collected: collectedIn(bytecode),
    writes: names.some((name) => WRITING.has(name)),
  };
}

function instructionsIn(value: GremlinValue): Instruction[] {
  if (Array.isArray(value)) return value.flatMap(instructionsIn);
  if (value instanceof Predicate) return value.values.flatMap(instructionsIn);
  if (!(value instanceof Bytecode)) return [];
  return value.steps.flatMap((step) => [step, ...step.args.flatMap(instructionsIn)]);
}

function namesIn(value: GremlinValue): string[] {
  return instructionsIn(value).map(({ name }) => name);
}

export class Compiler {
  readonly #table: StepTable;
  readonly settings: SourceSettings;
  /** Whether the list that is being compiled is stateful, because a shared child is. */
  #hasStatefulChild = false;

  constructor(table: StepTable, settings: SourceSettings) {
    this.#table = table;
    this.settings = settings;
  }

  pipeline(bytecode: Bytecode, isRoot = false): Pipeline {
    const isOuterStateful = this.#hasStatefulChild;
    this.#hasStatefulChild = false;
    const instructions = this.settings.connects
      ? connected(bytecode.steps, isRoot)
      : bytecode.steps;
    const clauses = gatherClauses(instructions, isRoot);
    const steps: Step[] = [];
    const names: string[] = [];
    for (const clause of clauses) {
      steps.push(this.#step(clause));
      names.push(clauseText(clause));
      if (clause.labels.size > 0)
        steps.push(
          batchStep((batch) => batch.map((traverser) => labelled(traverser, clause.labels))),
        );
      if (clause.labels.size > 0) names.push('');
    }
    const isStateful = this.#hasStatefulChild || clauses.some(isStatefulClause);
    this.#hasStatefulChild = isOuterStateful;
    const inner = instructionsIn(bytecode);
    const isCollecting = inner.some(collects);
    const writes = isCollecting || inner.some(({ name }) => WRITING.has(name));
    return new Pipeline(steps, { names, isStateful, writes, collects: isCollecting });
  }

  /** A nested traversal that runs for each traverser by itself. */
  child(argument: GremlinValue | undefined, step: string, isRoot = false): Pipeline {
    if (!(argument instanceof Bytecode)) throw compileError(`${step}() needs a traversal.`);
    return this.pipeline(argument, isRoot);
  }

  /** A nested traversal that all traversers share: its counts and limits are over all of them. */
  sharedChild(argument: GremlinValue | undefined, step: string, isRoot = false): Pipeline {
    const pipeline = this.child(argument, step, isRoot);
    this.#hasStatefulChild ||= pipeline.isStateful;
    return pipeline;
  }

  #step(clause: Clause): Step {
    const { name } = clause;
    const factory = Object.hasOwn(this.#table, name) ? this.#table[name] : undefined;
    if (factory === undefined) throw compileError(`Unable to find any method '${name}'.`);
    return factory(clause, this);
  }
}

/** A step as profiles show it: with its labels and the filters that it took. */
function clauseText({ name, args, labels, filters }: Clause): string {
  const texts = [name, ...args, ...filters.flatMap((filter) => [filter.name, ...filter.args])];
  const shown = texts.slice(1).map((value) => (value instanceof Bytecode ? '[…]' : textOf(value)));
  const label = labels.size === 0 ? '' : `@[${[...labels].join()}]`;
  return `${name}(${shown.join().slice(0, CLAUSE_TEXT_MAX)})${label}`;
}

/** Characters of a step's arguments in a profile. */
const CLAUSE_TEXT_MAX = 200;

function isStatefulClause({ name, args }: Clause): boolean {
  return STATEFUL.has(name) && !isLocal(args);
}

/** Whether the first argument is the scope `local`. */
export function isLocal([first]: readonly GremlinValue[]): boolean {
  return isEnum(first, 'Scope', 'local');
}

export function isEnum(value: GremlinValue | undefined, type: string, name?: string): boolean {
  return (
    value instanceof EnumValue && value.type === type && (name === undefined || value.name === name)
  );
}
