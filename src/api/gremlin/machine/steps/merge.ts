/** mergeV() and mergeE(): the elements that a map describes, or a new one. */
import { compileError, runtimeError } from '../../errors.ts';
import type { Cardinality, NewProperty, SearchCondition } from '../../graph/graph.ts';
import { ID_KEY, LABEL_KEY } from '../../graph/graph.ts';
import { GremlinMap } from '../../model/collections.ts';
import { type Edge, Vertex } from '../../model/elements.ts';
import { areEqual } from '../../model/equality.ts';
import { Bytecode, EnumValue, type Instruction } from '../../model/terms.ts';
import { textOf } from '../../model/text.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { propertyValues } from '../element-values.ts';
import { loadReferences } from '../references.ts';
import { batchStep, type Frame, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { cardinalValue, type Operand, operandOf, resolve, setProperties } from './operands.ts';

export const MERGE_STEPS: StepTable = {
  mergeV: (clause, compiler) => mergeStep(clause, compiler, 'mergeV'),
  mergeE: (clause, compiler) => mergeStep(clause, compiler, 'mergeE'),
};

interface Merge {
  readonly step: 'mergeV' | 'mergeE';
  readonly search: Operand;
  readonly options: ReadonlyMap<string, Operand>;
  /** The cardinality of properties that onMatch sets. */
  readonly cardinality: Cardinality | undefined;
}

function mergeStep(clause: Clause, compiler: Compiler, step: Merge['step']): Step {
  const merge = mergeOf(clause, compiler, step);
  return batchStep(async (batch, frame) => {
    const next: Traverser[] = [];
    for (const traverser of batch)
      for (let left = traverser.bulk; left > 0; left--)
        for (const element of await merged(merge, traverser, frame))
          next.push(traverser.to(element).with({ bulk: 1 }));
    return next;
  });
}

function mergeOf({ args, modulators }: Clause, compiler: Compiler, step: Merge['step']): Merge {
  const identity = new Bytecode([], [{ name: 'identity', args: [] }]);
  const search = operandOf(args.length === 0 ? identity : (args[0] as GremlinValue), compiler);
  const options = new Map<string, Operand>();
  let cardinality: Cardinality | undefined;
  for (const { name, args: option } of modulators as readonly Instruction[]) {
    if (name !== 'option') continue;
    const [key, value = null, third] = option;
    if (!(key instanceof EnumValue) || key.type !== 'Merge')
      throw compileError(`option() of ${step}() needs onCreate, onMatch, outV or inV.`);
    options.set(key.name, operandOf(value, compiler));
    if (third instanceof EnumValue && third.type === 'Cardinality')
      cardinality = third.name as Cardinality;
  }
  checkConstants(step, search, options);
  return { step, search, options, cardinality };
}

/** Maps that are no traversals are checked before anything runs. */
function checkConstants(
  step: Merge['step'],
  search: Operand,
  options: ReadonlyMap<string, Operand>,
): void {
  if (search instanceof GremlinMap) checkMap(step, search, false);
  const create = options.get('onCreate');
  if (create instanceof GremlinMap) {
    checkMap(step, create, true);
    if (search instanceof GremlinMap) checkOverrides(search, create);
  }
  const match = options.get('onMatch');
  if (match instanceof GremlinMap) checkMatchMap(match);
}

function isToken(key: GremlinValue, name: string): boolean {
  return key instanceof EnumValue && key.type === 'T' && key.name === name;
}

function isEnd(key: GremlinValue): key is EnumValue {
  return key instanceof EnumValue && key.type === 'Direction' && key.name !== 'BOTH';
}

function checkMap(step: Merge['step'], map: GremlinMap, isCreate: boolean): void {
  const where = isCreate ? 'option(onCreate)' : `${step}()`;
  for (const [key, value] of map) {
    if (typeof key === 'string') checkHidden(key);
    else if (isToken(key, 'label')) {
      const label = plainValue(value);
      if (typeof label !== 'string')
        throw runtimeError(
          `${step}() and option(onCreate) args expect T.label value to be of String - found: ${String(label)}`,
        );
      checkLabel(label);
    } else if (isToken(key, 'id')) {
      if (value === null) throw runtimeError(`${where} does not allow null T.id.`);
    } else if (step === 'mergeE' && isEnd(key)) {
      if (value === null)
        throw runtimeError(
          'Vertex id could not be resolved from mergeE: the Map has null for a direction.',
        );
    } else
      throw runtimeError(
        `${step}() and option(onCreate) args expect keys in Map to be either String or T.id, T.label${step === 'mergeE' ? ' or Direction' : ''} - check: ${textOf(key)}`,
      );
  }
}

export function checkHidden(key: string): void {
  if (key === '') throw runtimeError('Property key can not be the empty string');
  if (key.startsWith('~')) throw runtimeError(`Property key can not be a hidden key: ${key}`);
}

export function checkLabel(label: string): void {
  if (label === '') throw runtimeError('Label can not be empty');
  if (label.startsWith('~')) throw runtimeError(`Label can not be a hidden key: ${label}`);
}

function checkMatchMap(map: GremlinMap): void {
  for (const key of map.keys()) {
    if (typeof key !== 'string')
      throw runtimeError(
        `option(onMatch) expects keys in Map to be of String - check: ${textOf(key)}`,
      );
    checkHidden(key);
  }
}

function checkOverrides(search: GremlinMap, create: GremlinMap): void {
  for (const [key, value] of create) {
    const given = search.get(key);
    if (given !== undefined && !areEqual(plainValue(given), plainValue(value)))
      throw runtimeError(
        `option(onCreate) cannot override values from merge() argument: (${textOf(key)}, ${textOf(plainValue(given))}, ${textOf(plainValue(value))})`,
      );
  }
}

function plainValue(value: GremlinValue): GremlinValue {
  return cardinalValue(value)?.value ?? value;
}

async function mapOf(
  operand: Operand | undefined,
  traverser: Traverser,
  frame: Frame,
  step: string,
): Promise<GremlinMap> {
  if (operand === undefined) return new GremlinMap();
  const value = await resolve(operand, traverser, frame);
  if (value === null || value === undefined) return new GremlinMap();
  if (!(value instanceof GremlinMap))
    throw runtimeError(`${step}() needs a map, and found ${textOf(value)}.`);
  return value;
}

async function merged(
  merge: Merge,
  traverser: Traverser,
  frame: Frame,
): Promise<readonly (Vertex | Edge)[]> {
  const { step, options } = merge;
  let search = await mapOf(merge.search, traverser, frame, step);
  checkMap(step, search, false);
  if (step === 'mergeE') search = await withEnds(search, merge, traverser, frame);
  const found =
    step === 'mergeV' ? await verticesLike(search, frame) : await edgesLike(search, frame);
  if (found.length > 0) {
    const matches: (Vertex | Edge)[] = [];
    for (const element of found) {
      const inner = traverser.with({ value: element });
      const changes = await mapOf(options.get('onMatch'), inner, frame, step);
      checkMatchMap(changes);
      matches.push(setProperties(element, changes, merge.cardinality, frame));
    }
    return matches;
  }
  let create = await mapOf(options.get('onCreate'), traverser, frame, step);
  checkMap(step, create, true);
  if (step === 'mergeE') create = await withEnds(create, merge, traverser, frame);
  checkOverrides(search, create);
  const all = new GremlinMap([...search, ...create]);
  return [step === 'mergeV' ? newVertex(all, frame) : newEdge(all, frame)];
}

function propertiesOfMap(map: GremlinMap): NewProperty[] {
  return [...map].flatMap(([key, value]): NewProperty[] => {
    const meta = new Map<string, GremlinValue>();
    if (isToken(key, 'id'))
      return [{ key: ID_KEY, value, cardinality: 'single', meta, isToken: true }];
    if (typeof key !== 'string') return [];
    const cardinal = cardinalValue(value);
    return [{ key, value: cardinal?.value ?? value, cardinality: cardinal?.cardinality, meta }];
  });
}

function labelIn(map: GremlinMap, otherwise: string): string {
  const label = map.get(new EnumValue('T', 'label')) ?? otherwise;
  return String(plainValue(label));
}

function newVertex(map: GremlinMap, { run }: Frame): Vertex {
  return run.graph.addVertex(labelIn(map, 'vertex'), propertiesOfMap(map));
}

function conditionsIn(map: GremlinMap): SearchCondition[] {
  return [...map].flatMap(([key, value]): SearchCondition[] => {
    if (isToken(key, 'label'))
      return [{ key: LABEL_KEY, condition: plainValue(value), isProperty: false }];
    if (typeof key !== 'string') return [];
    return [{ key, condition: plainValue(value), isProperty: true }];
  });
}

function isLike(element: Vertex | Edge, conditions: readonly SearchCondition[]): boolean {
  return conditions.every(({ key, condition, isProperty }) =>
    isProperty
      ? propertyValues(element, key).some((value) => areEqual(value, condition))
      : element.label === condition,
  );
}

async function verticesLike(map: GremlinMap, { run }: Frame): Promise<Vertex[]> {
  const conditions = conditionsIn(map);
  const id = map.get(new EnumValue('T', 'id'));
  const found: Vertex[] = [];
  const search = { targets: id === undefined ? undefined : [id], conditions };
  for await (const page of run.graph.vertices(search)) {
    found.push(...page.filter((vertex) => isLike(vertex, conditions)));
    run.pace.hold(page.length);
    await run.pace.spend(page.length);
  }
  return found;
}

/** The map with vertices in place of ids, and of what the options outV and inV say. */
async function withEnds(
  map: GremlinMap,
  merge: Merge,
  traverser: Traverser,
  frame: Frame,
): Promise<GremlinMap> {
  const next = new GremlinMap();
  for (const [key, value] of map)
    if (isEnd(key)) {
      const isOut = key.name === 'OUT' || key.name === 'from';
      next.set(
        new EnumValue('Direction', isOut ? 'OUT' : 'IN'),
        await endOf(value, merge, traverser, frame),
      );
    } else next.set(key, value);
  return next;
}

async function endOf(
  value: GremlinValue,
  { options, step }: Merge,
  traverser: Traverser,
  frame: Frame,
): Promise<Vertex> {
  if (value instanceof EnumValue && value.type === 'Merge') {
    const option = options.get(value.name);
    if (option === undefined)
      throw runtimeError(`option(${value.name}) must be specified if it is used for Direction`);
    const resolved = (await resolve(option, traverser, frame)) ?? null;
    if (resolved instanceof GremlinMap) {
      checkMap('mergeV', resolved, false);
      const [vertex] = await verticesLike(resolved, frame);
      if (vertex === undefined)
        throw runtimeError(
          `Vertex id could not be resolved from ${step}: no vertex is like the map.`,
        );
      return vertex;
    }
    return vertexAt(resolved, step, frame);
  }
  return vertexAt(value, step, frame);
}

async function vertexAt(value: GremlinValue, step: string, frame: Frame): Promise<Vertex> {
  if (value instanceof Vertex && value.key !== '') {
    await loadReferences([value], frame);
    return value;
  }
  if (value === null) throw runtimeError(`Vertex id could not be resolved from ${step}`);
  for await (const [vertex] of frame.run.graph.vertices({ targets: [value], conditions: [] }))
    if (vertex !== undefined) return vertex;
  throw runtimeError(
    `Vertex id could not be resolved from ${step}: ${textOf(value)} does not exist`,
  );
}

async function edgesLike(map: GremlinMap, { run }: Frame): Promise<Edge[]> {
  const conditions = conditionsIn(map);
  const id = map.get(new EnumValue('T', 'id'));
  const out = map.get(new EnumValue('Direction', 'OUT'));
  const into = map.get(new EnumValue('Direction', 'IN'));
  const label = map.get(new EnumValue('T', 'label'));
  const labels = typeof label === 'string' ? [label] : [];
  const near = out ?? into;
  const pages =
    id === undefined && near instanceof Vertex
      ? run.graph.edgesOf([near], near === out ? 'out' : 'in', labels)
      : run.graph.edges({ targets: id === undefined ? undefined : [id], conditions });
  const found: Edge[] = [];
  for await (const page of pages) {
    found.push(
      ...page.filter(
        (edge) =>
          isLike(edge, conditions) &&
          (out === undefined || areEqual(edge.outVertex, out)) &&
          (into === undefined || areEqual(edge.inVertex, into)),
      ),
    );
    run.pace.hold(page.length);
    await run.pace.spend(page.length);
  }
  return found;
}

function newEdge(map: GremlinMap, { run }: Frame): Edge {
  const from = map.get(new EnumValue('Direction', 'OUT'));
  const to = map.get(new EnumValue('Direction', 'IN'));
  if (!(from instanceof Vertex))
    throw runtimeError('Out Vertex not specified in onCreate - edge cannot be created');
  if (!(to instanceof Vertex))
    throw runtimeError('In Vertex not specified in onCreate - edge cannot be created');
  return run.graph.addEdge({
    label: labelIn(map, 'edge'),
    from,
    to,
    properties: propertiesOfMap(map),
  });
}
