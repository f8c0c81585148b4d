/** call(): services of the server. `--list` names them. */
import { compileError, runtimeError } from '../../errors.ts';
import { GremlinMap } from '../../model/collections.ts';
import { Vertex } from '../../model/elements.ts';
import { numberOf } from '../../model/number.ts';
import { Bytecode, EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { propertiesOf } from '../element-values.ts';
import { batchStep, type Frame, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { type Operand, operandOf, resolve } from './operands.ts';

export const CALL_STEPS: StepTable = {
  call: (clause, compiler) => callStep(clause, compiler),
};

const LIST = '--list';

type Service = (
  traverser: Traverser,
  parameters: GremlinMap,
  frame: Frame,
) => Promise<readonly GremlinValue[]>;

/** The services that the language's reference graph has. */
const SERVICES: ReadonlyMap<string, { readonly isStart: boolean; readonly run: Service }> = new Map(
  [
    ['tinker.search', { isStart: true, run: search }],
    ['tinker.degree.centrality', { isStart: false, run: degree }],
  ],
);

function callStep({ args, modulators, isStart }: Clause, compiler: Compiler): Step {
  const [first = LIST, ...others] = args;
  const name = first instanceof Bytecode || first instanceof GremlinMap ? LIST : String(first);
  const sets = others.map((other) => operandOf(other, compiler));
  const options = modulators
    .filter((modulator) => modulator.name === 'with')
    .map(({ args: [key, value = true] }) => [String(key), operandOf(value, compiler)] as const);
  const service = SERVICES.get(name);
  if (name !== LIST && service === undefined) throw compileError(`Unrecognized service: ${name}`);
  if (name === LIST ? !isStart : service?.isStart !== isStart)
    throw compileError(`The service ${name} cannot be called at this place.`);
  return batchStep(async (batch, frame) => {
    const next: Traverser[] = [];
    for (const traverser of batch) {
      const parameters = await parametersOf(sets, options, traverser, frame);
      const values =
        service === undefined
          ? listed(parameters)
          : await service.run(traverser, parameters, frame);
      for (const value of values) next.push(traverser.to(value));
    }
    return next;
  });
}

/** The maps from left to right, then the options. */
async function parametersOf(
  sets: readonly Operand[],
  options: readonly (readonly [string, Operand])[],
  traverser: Traverser,
  frame: Frame,
): Promise<GremlinMap> {
  const parameters = new GremlinMap();
  for (const operand of sets) {
    const map = await resolve(operand, traverser, frame);
    if (map instanceof GremlinMap) for (const [key, value] of map) parameters.set(key, value);
  }
  for (const [key, operand] of options) {
    const value = await resolve(operand, traverser, frame);
    if (value !== undefined) parameters.set(key, value);
  }
  return parameters;
}

function listed(parameters: GremlinMap): GremlinValue[] {
  const wanted = parameters.get('service');
  return [...SERVICES.keys()].filter((name) => wanted === undefined || wanted === name);
}

/** Properties whose text contains the one that is looked for. */
async function search(
  _: Traverser,
  parameters: GremlinMap,
  { run }: Frame,
): Promise<readonly GremlinValue[]> {
  const text = parameters.get('search');
  if (typeof text !== 'string') throw runtimeError("tinker.search needs the parameter 'search'.");
  const type = parameters.get('type');
  const found: GremlinValue[] = [];
  const everything = { targets: undefined, conditions: [] };
  const isLike = (value: GremlinValue): boolean =>
    typeof value === 'string' && value.includes(text);
  if (type === undefined || type === 'Vertex' || type === 'VertexProperty')
    for await (const page of run.graph.vertices(everything)) {
      await run.pace.spend(page.length);
      for (const vertex of page)
        for (const property of propertiesOf(vertex, [])) {
          if (type !== 'VertexProperty' && isLike(property.value)) found.push(property);
          if (type !== 'Vertex' && 'meta' in property)
            found.push(...propertiesOf(property, []).filter(({ value }) => isLike(value)));
        }
    }
  if (type === undefined || type === 'Edge')
    for await (const page of run.graph.edges(everything)) {
      await run.pace.spend(page.length);
      for (const edge of page)
        found.push(...propertiesOf(edge, []).filter(({ value }) => isLike(value)));
    }
  return found;
}

async function degree(
  { value }: Traverser,
  parameters: GremlinMap,
  { run }: Frame,
): Promise<readonly GremlinValue[]> {
  if (!(value instanceof Vertex))
    throw runtimeError('tinker.degree.centrality can only be used on vertices.');
  const direction = parameters.get('direction');
  const name = direction instanceof EnumValue ? direction.name : 'IN';
  const sides =
    name === 'BOTH' ? (['out', 'in'] as const) : ([name === 'OUT' ? 'out' : 'in'] as const);
  let count = 0;
  for (const side of sides)
    for await (const page of run.graph.edgesOf([value], side, [])) {
      count += page.length;
      await run.pace.spend(page.length);
    }
  return [numberOf('long', count)];
}
