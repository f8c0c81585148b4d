/**
 * Strategies that change what a traversal sees, as changes of its steps: SubgraphStrategy filters behind every step that
 * finds elements, PartitionStrategy is a subgraph by a property and sets that property where elements are added.
 */
import { compileError } from '../errors.ts';
import { GremlinMap } from '../model/collections.ts';
import { Bytecode, EnumValue, type Instruction, Predicate } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';
import type { PartitionSettings, SourceSettings, SubgraphSettings } from './sources.ts';

export function rewritten(
  bytecode: Bytecode,
  settings: SourceSettings,
  partitionProperty: string | undefined,
): Bytecode {
  let result = bytecode;
  if (settings.needsEdgeLabels || settings.reservedKeys.length > 0) verify(bytecode, settings);
  const { partition, subgraph } = settings;
  if (partition !== undefined)
    result = withPartitions(result, partition, partition.key === partitionProperty);
  if (subgraph !== undefined) result = withSubgraph(result, subgraph);
  return result;
}

/** Applies a change to every list of steps, innermost first. */
function deep(
  bytecode: Bytecode,
  change: (steps: readonly Instruction[]) => Instruction[],
): Bytecode {
  const steps = bytecode.steps.map(({ name, args }) => ({
    name,
    args: args.map((arg) => deepValue(arg, change)),
  }));
  return new Bytecode(bytecode.sources, change(steps));
}

function deepValue(
  value: GremlinValue,
  change: (steps: readonly Instruction[]) => Instruction[],
): GremlinValue {
  if (value instanceof Bytecode) return deep(value, change);
  if (Array.isArray(value)) return value.map((member) => deepValue(member, change));
  if (value instanceof Predicate)
    return new Predicate(
      value.name,
      value.values.map((member) => deepValue(member, change)),
    );
  return value;
}

/** A filter of one has() stays such: V() takes it into its look-up. */
function filter(criterion: Bytecode): Instruction {
  const [only, ...others] = criterion.steps;
  if (only?.name === 'has' && others.length === 0) return only;
  return { name: 'filter', args: [criterion] };
}

/** The far end of the edges of a step. */
const FAR_ENDS: Readonly<Record<string, readonly [string, string]>> = {
  out: ['outE', 'inV'],
  in: ['inE', 'outV'],
  both: ['bothE', 'otherV'],
};

const VERTEX_STEPS: ReadonlySet<string> = new Set(['V', 'inV', 'outV', 'bothV', 'otherV', 'toV']);
const EDGE_STEPS: ReadonlySet<string> = new Set(['E', 'outE', 'inE', 'bothE', 'toE']);

function withSubgraph(bytecode: Bytecode, settings: SubgraphSettings): Bytecode {
  const edges = edgeCriterion(settings);
  const { vertices, vertexProperties } = settings;
  return deep(bytecode, (steps) => {
    const next: Instruction[] = [];
    for (const [at, step] of steps.entries()) {
      const { name, args } = step;
      // Labels of the step stand behind the filters that belong to it.
      const far = FAR_ENDS[name];
      if (far !== undefined && (edges !== undefined || vertices !== undefined)) {
        const [toEdges, toVertices] = far;
        next.push({ name: edges === undefined ? name : toEdges, args });
        if (edges !== undefined) next.push(filter(edges), { name: toVertices, args: [] });
        if (vertices !== undefined) next.push(filter(vertices));
        continue;
      }
      next.push(...propertyFiltered(step, steps[at + 1], vertexProperties));
      if (vertices !== undefined && VERTEX_STEPS.has(name)) next.push(filter(vertices));
      if (edges !== undefined && EDGE_STEPS.has(name)) next.push(filter(edges));
    }
    return next;
  });
}

/** An edge is there only with both its ends, where the settings say so. */
function edgeCriterion({ vertices, edges, checksEnds }: SubgraphSettings): Bytecode | undefined {
  if (vertices === undefined || !checksEnds) return edges;
  const ends = ['inV', 'outV'].map(
    (name) => new Bytecode([], [{ name, args: [] }, filter(vertices)]),
  );
  const all = edges === undefined ? ends : [edges, ...ends];
  return new Bytecode([], [{ name: 'and', args: all }]);
}

/** Steps that read properties see only those that satisfy the criterion. */
function propertyFiltered(
  step: Instruction,
  _next: Instruction | undefined,
  criterion: Bytecode | undefined,
): Instruction[] {
  if (criterion === undefined) return [step];
  const { name, args } = step;
  // Properties of edges and of properties are not the criterion's.
  const vertexOnly = new Bytecode([], [{ name: 'isVertexPropertyWith', args: [criterion] }]);
  if (name === 'properties') return [step, filter(vertexOnly)];
  if (name === 'values')
    return [{ name: 'properties', args }, filter(vertexOnly), { name: 'value', args: [] }];
  if (name === 'valueMap' || name === 'propertyMap' || name === 'elementMap')
    return [step, { name: 'with', args: ['~propertyCriterion', vertexOnly] }];
  return [step];
}

/** Steps that add vertices, edges and their properties. */
function withPartitions(
  bytecode: Bytecode,
  partition: PartitionSettings,
  isPartitionKey: boolean,
): Bytecode {
  const { key, write, read, includesMeta } = partition;
  const criterion =
    read === undefined
      ? undefined
      : new Bytecode([], [{ name: 'has', args: [key, new Predicate('within', read)] }]);
  const withWrite =
    write === undefined
      ? bytecode
      : deep(bytecode, (steps) => steps.flatMap((step) => written(step, key, write, includesMeta)));
  if (criterion === undefined) return withWrite;
  return withSubgraph(withWrite, {
    vertices: criterion,
    // An edge has no partition key of its own: it lies with its source.
    edges: isPartitionKey
      ? new Bytecode([], [{ name: 'isInPartition', args: [...(read ?? [])] }])
      : criterion,
    vertexProperties: includesMeta ? criterion : undefined,
    checksEnds: false,
  });
}

function written(
  step: Instruction,
  key: string,
  write: GremlinValue,
  includesMeta: boolean,
): Instruction[] {
  const { name, args } = step;
  if (name === 'addV' || name === 'addE') {
    const meta = includesMeta && name === 'addV' ? [key, write] : [];
    return [step, { name: 'property', args: [key, write, ...meta] }];
  }
  if (name === 'property' && includesMeta && args.length >= 2)
    return [{ name, args: [...args, key, write] }];
  if (name === 'mergeV' || name === 'mergeE') return mergedInto(step, key, write);
  return [step];
}

/** A merge looks for elements of the partition, and makes new ones in it. */
function mergedInto({ name, args }: Instruction, key: string, write: GremlinValue): Instruction[] {
  const [search] = args;
  if (search instanceof GremlinMap)
    return [{ name, args: [new GremlinMap([...search, [key, write]])] }];
  const added = new GremlinMap([[key, write]]);
  const base = search instanceof Bytecode ? search.steps : [{ name: 'identity', args: [] }];
  return [{ name, args: [new Bytecode([], [...base, { name: 'merge', args: [added] }])] }];
}

/** Checks that other strategies ask for. */
function verify(bytecode: Bytecode, settings: SourceSettings): void {
  deep(bytecode, (steps) => {
    for (const { name, args } of steps) {
      if (settings.needsEdgeLabels && /^(?:out|in|both)E?$/.test(name) && args.length === 0)
        throw compileError(
          `The provided traversal contains a vertex step without any specified edge label: ${name}()`,
        );
      if (name !== 'property') continue;
      const [first, second] = args;
      const key = first instanceof EnumValue && first.type === 'Cardinality' ? second : first;
      const keys = key instanceof GremlinMap ? key.keys() : [key];
      for (const each of keys)
        if (typeof each === 'string' && settings.reservedKeys.includes(each))
          throw compileError(`property() is setting a property key to a reserved word: ${each}`);
    }
    return [...steps];
  });
}
