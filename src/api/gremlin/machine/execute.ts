/** Runs a compiled traversal. */
import { compileError } from '../errors.ts';
import type { Graph } from '../graph/graph.ts';
import { GremlinMap } from '../model/collections.ts';
import { BulkSet } from '../model/structures.ts';
import type { Bytecode } from '../model/terms.ts';
import { textOf } from '../model/text.ts';
import type { GremlinValue } from '../model/value.ts';
import { type CompiledTraversal, compile } from './compiler.ts';
import type { Pace } from './pace.ts';
import { chances } from './random.ts';
import { rewritten } from './rewrite.ts';
import type { SourceSettings } from './sources.ts';
import { type Batches, batchesOf, type Measure, type Run } from './step.ts';
import { STEPS } from './steps/table.ts';
import { NO_LABELLED_PATH, NO_PATH, Traverser } from './traverser.ts';

/** Steps that can begin a traversal. */
const STARTS: ReadonlySet<string> = new Set([
  'V',
  'E',
  'inject',
  'addV',
  'addE',
  'union',
  'mergeV',
  'mergeE',
  'call',
  'io',
]);

/** The property that is the partition key decides what PartitionStrategy means. */
export function compileTraversal(
  bytecode: Bytecode,
  settings: SourceSettings,
  partitionProperty: string | undefined,
): CompiledTraversal {
  const [first] = bytecode.steps;
  if (first === undefined) throw compileError('The traversal has no steps.');
  if (!STARTS.has(first.name)) throw compileError(`Unable to find any method 'g.${first.name}'.`);
  return compile(rewritten(bytecode, settings, partitionProperty), STEPS, settings);
}

/** Batches of results, made when they are asked for. Writes are in the graph's unit of work afterwards. */
export function execute(
  { pipeline, pathKind, collected }: CompiledTraversal,
  { graph, pace, settings, measure }: ExecutionParts,
): Batches {
  const emptyPath = { none: undefined, labels: NO_LABELLED_PATH, full: NO_PATH }[pathKind];
  const seed = new Traverser(null, { path: emptyPath, sack: settings.sack?.initial });
  const sideEffects = new Map<string, GremlinValue>();
  for (const [key, kind] of collected)
    sideEffects.set(key, kind === 'list' ? new BulkSet() : new GremlinMap());
  for (const [key, value] of settings.sideEffects) sideEffects.set(key, value);
  const run: Run = {
    graph,
    pace,
    emptyPath,
    sideEffects,
    groups: new Map(),
    source: settings,
    chance: chances(settings.seed),
  };
  const input = batchesOf([seed]);
  const frame = { run, origins: 1 };
  return measure === undefined
    ? pipeline.open(input, frame)
    : pipeline.openMeasured(input, frame, measure);
}

/** How a traversal will run: its steps as they were sent, and as they are after planning. */
export function explanation(
  bytecode: Bytecode,
  { pipeline, pathKind, writes }: CompiledTraversal,
): string {
  const original = bytecode.steps.map(({ name, args }) => `${name}(${args.map(textOf).join()})`);
  const final = pipeline.names.filter((name) => name !== '');
  return [
    'Traversal Explanation',
    `Original Traversal  [${original.join(', ')}]`,
    `Final Traversal     [${final.join(', ')}]`,
    `Paths               ${pathKind}`,
    `Writes              ${writes}`,
  ].join('\n');
}

interface ExecutionParts {
  readonly graph: Graph;
  readonly pace: Pace;
  readonly settings: SourceSettings;
  /** Writes down what each step does. */
  readonly measure?: Measure;
}
