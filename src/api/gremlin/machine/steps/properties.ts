/** What elements have: ids, labels, keys, values, properties, and maps of them. */
import { compileError, runtimeError } from '../../errors.ts';
import { GremlinMap } from '../../model/collections.ts';
import { Edge, Property, Vertex, VertexProperty } from '../../model/elements.ts';
import { isNumber, toDouble } from '../../model/number.ts';
import { EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, resolveRows } from '../by.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { propertiesOf, propertyValues, tokenOf } from '../element-values.ts';
import { loaded } from '../references.ts';
import { batchStep, type Frame, mapStep, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { textsOf } from './arguments.ts';

type GraphElement = Vertex | Edge | VertexProperty;

export const PROPERTY_STEPS: StepTable = {
  id: () => tokenStep('id'),
  label: () => tokenStep('label'),
  key: () => tokenStep('key'),
  value: () => tokenStep('value'),
  values: ({ args }) => {
    const keys = textsOf(args, 'values');
    return elementStep('values', (element) =>
      keys.length === 0
        ? propertiesOf(element, []).map(({ value }) => value)
        : keys.flatMap((key) => propertyValues(element, key)),
    );
  },
  properties: ({ args }) => {
    const keys = textsOf(args, 'properties');
    return elementStep('properties', (element) => propertiesOf(element, keys));
  },
  propertyMap: ({ args }) => {
    const keys = textsOf(args, 'propertyMap');
    return elementStep('propertyMap', (element) => [mapOfProperties(element, keys)]);
  },
  valueMap: (clause, compiler) => valueMapStep(clause, compiler),
  elementMap: ({ args }) => {
    const keys = textsOf(args, 'elementMap');
    return elementStep('elementMap', (element) => [elementMap(element, keys)]);
  },
};

function tokenStep(name: string): Step {
  return mapStep((value) => {
    const token = tokenOf(value, name);
    if (token === undefined)
      throw runtimeError(`${name}() can only be used on elements that have one.`);
    return token;
  });
}

function elementAt({ value }: Traverser, step: string): GraphElement {
  if (value instanceof Vertex || value instanceof Edge || value instanceof VertexProperty)
    return value;
  throw runtimeError(`${step}() can only be used on elements.`);
}

function elementStep(
  name: string,
  valuesOf: (element: GraphElement) => readonly GremlinValue[],
): Step {
  return batchStep(async (batch, frame) =>
    (await loaded(batch, frame)).flatMap((traverser) =>
      valuesOf(elementAt(traverser, name)).map((value) => traverser.to(value)),
    ),
  );
}

function mapOfProperties(element: GraphElement, keys: readonly string[]): GremlinMap {
  const map = new GremlinMap();
  for (const property of propertiesOf(element, keys)) {
    const known = map.get(property.key);
    if (property instanceof Property) map.set(property.key, property);
    else map.set(property.key, [...((known as GremlinValue[]) ?? []), property]);
  }
  return map;
}

const TOKENS_OPTION = '~tinkerpop.valueMap.tokens';
/** Bits of the option: ids, labels. */
const TOKEN_ID = 1;
const TOKEN_LABEL = 2;
const TOKEN_ALL = 15;

function valueMapStep({ args, modulators }: Clause, compiler: Compiler): Step {
  const hasTokens = args[0] === true;
  const keys = textsOf(typeof args[0] === 'boolean' ? args.slice(1) : args, 'valueMap');
  let tokens = hasTokens ? TOKEN_ALL : 0;
  for (const { name, args: options } of modulators)
    if (name === 'with' && options[0] === TOKENS_OPTION)
      tokens = options[1] === undefined ? TOKEN_ALL : bitsOf(options[1]);
  const bys = bysOf(modulators, compiler);
  if (bys.length > 1) throw compileError('valueMap() step can only have one by modulator');
  const [by] = bys;
  return batchStep(async (batch, frame) => {
    const rows = (await loaded(batch, frame)).map((traverser) => ({
      traverser,
      map: valueMap(elementAt(traverser, 'valueMap'), keys, tokens),
    }));
    const maps = by === undefined ? rows.map(({ map }) => map) : await eachBy(rows, by, frame);
    return rows.map(({ traverser }, at) => traverser.to(maps[at] as GremlinMap));
  });
}

function bitsOf(value: GremlinValue): number {
  if (!isNumber(value)) throw compileError('The tokens of valueMap() are a number.');
  return toDouble(value);
}

function valueMap(element: GraphElement, keys: readonly string[], tokens: number): GremlinMap {
  const map = new GremlinMap();
  if (tokens & TOKEN_ID) map.set(new EnumValue('T', 'id'), element.id);
  if (tokens & TOKEN_LABEL) map.set(new EnumValue('T', 'label'), tokenOf(element, 'label') ?? null);
  for (const property of propertiesOf(element, keys))
    if (property instanceof Property) map.set(property.key, property.value);
    else
      map.set(property.key, [...((map.get(property.key) as GremlinValue[]) ?? []), property.value]);
  return map;
}

/** valueMap().by(…): every value of the maps through the modulator; values that it drops are left out. */
async function eachBy(
  rows: readonly { readonly traverser: Traverser; readonly map: GremlinMap }[],
  by: By,
  frame: Frame,
): Promise<GremlinMap[]> {
  const named = rows.map(({ map }) => [...map].filter(([key]) => typeof key === 'string'));
  const objects = rows.map(({ traverser }, row) => ({
    traverser,
    objects: (named[row] ?? []).map(([, value]) => value),
  }));
  const values = await resolveRows([by], objects, frame);
  return rows.map(({ map }, row) => {
    const next = new GremlinMap([...map].filter(([key]) => typeof key !== 'string'));
    for (const [at, [key]] of (named[row] ?? []).entries()) {
      const value = values[row]?.[at];
      if (value !== undefined) next.set(key, value);
    }
    return next;
  });
}

function elementMap(element: GraphElement, keys: readonly string[]): GremlinMap {
  const map = new GremlinMap([
    [new EnumValue('T', 'id'), element.id],
    [new EnumValue('T', 'label'), tokenOf(element, 'label') ?? null],
  ]);
  if (element instanceof Edge) {
    map.set(new EnumValue('Direction', 'IN'), endMap(element.inVertex));
    map.set(new EnumValue('Direction', 'OUT'), endMap(element.outVertex));
  }
  for (const { key, value } of propertiesOf(element, keys)) map.set(key, value);
  return map;
}

function endMap({ id, label }: Vertex): GremlinMap {
  return new GremlinMap([
    [new EnumValue('T', 'id'), id],
    [new EnumValue('T', 'label'), label],
  ]);
}
