/** has() and its relatives: tests of one element. Right behind V() and E() they become part of the look-up. */
import { compileError } from '../../errors.ts';
import { ID_KEY, LABEL_KEY, type SearchCondition } from '../../graph/graph.ts';
import { valuesNamed } from '../../graph/search-condition.ts';
import { GremlinSet } from '../../model/collections.ts';
import { Edge, Property, Vertex, VertexProperty } from '../../model/elements.ts';
import { Bytecode, EnumValue, type Instruction, Predicate } from '../../model/terms.ts';
import { textOf } from '../../model/text.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { StepFactory, StepTable } from '../compiler.ts';
import { propertyValues, tokenOf } from '../element-values.ts';
import { type Test, testOf } from '../predicate.ts';
import { loaded } from '../references.ts';
import { batchStep, evaluate } from '../step.ts';

export const HAS_STEPS: StepTable = {
  has: (clause, compiler) => {
    const traversal = clause.args.at(-1);
    if (!(traversal instanceof Bytecode)) return testStep(clause, compiler);
    return hasTraversal(clause.args, compiler.child(traversal, 'has'));
  },
  hasLabel: (clause, compiler) => testStep(clause, compiler),
  hasId: (clause, compiler) => testStep(clause, compiler),
  hasNot: (clause, compiler) => testStep(clause, compiler),
  hasKey: (clause, compiler) => testStep(clause, compiler),
  hasValue: (clause, compiler) => testStep(clause, compiler),
};

const testStep: StepFactory = (clause) => {
  const test = elementTest(clause);
  const needsProperties = clause.name === 'hasNot' || (conditionOf(clause)?.isProperty ?? true);
  return batchStep(async (batch, frame) => {
    const ready = needsProperties ? await loaded(batch, frame) : batch;
    return ready.filter(({ value }) => test(value));
  });
};

/** has('key', traversal): some value of the key passes the traversal. */
function hasTraversal(args: readonly GremlinValue[], child: Parameters<typeof evaluate>[0]) {
  const [key] = args;
  if (args.length !== 2 || typeof key !== 'string')
    throw compileError('has() with a traversal needs a property name.');
  return batchStep(async (batch, frame) => {
    const ready = await loaded(batch, frame);
    const pairs = ready.flatMap((traverser) =>
      valuesOf(traverser.value, key).map((value) => ({ traverser, value })),
    );
    const results = await evaluate(
      child,
      pairs.map(({ traverser, value }) => traverser.to(value)),
      frame,
    );
    const kept = new Set(
      pairs.filter((_, at) => (results[at]?.length ?? 0) > 0).map(({ traverser }) => traverser),
    );
    return ready.filter((traverser) => kept.has(traverser));
  });
}

interface HasCondition extends SearchCondition {
  readonly isProperty: boolean;
}

/** The condition that an index may narrow; undefined where there is none. */
export function conditionOf({ name, args }: Instruction): HasCondition | undefined {
  const [first, second, third] = args;
  switch (name) {
    case 'hasLabel':
      return { key: LABEL_KEY, condition: anyOf(args), isProperty: false };
    case 'hasId':
      return { key: ID_KEY, condition: anyOf(args), isProperty: false };
    case 'has':
      if (args.length === 3 && typeof second === 'string' && third !== undefined)
        return { key: second, condition: third, isProperty: true };
      if (args.length !== 2 || second === undefined) return undefined;
      if (first instanceof EnumValue && (first.name === 'id' || first.name === 'label'))
        return { key: first.name, condition: second, isProperty: false };
      return typeof first === 'string'
        ? { key: first, condition: second, isProperty: true }
        : undefined;
    default:
      return undefined;
  }
}

/** One of several values, or one predicate. */
function anyOf(args: readonly GremlinValue[]): GremlinValue {
  const [only = null] = args;
  if (args.length === 1 && only instanceof Predicate) return only;
  return new Predicate(
    'within',
    args.flatMap((arg) =>
      Array.isArray(arg) ? arg : arg instanceof GremlinSet ? [...arg] : [arg],
    ),
  );
}

/** Whether a value passes the filter. Properties of references must be loaded before. */
export function elementTest({ name, args }: Instruction): Test {
  const [first = null] = args;
  switch (name) {
    case 'hasLabel':
      return tokenTest('label', testOf(anyOf(args)));
    case 'hasId':
      return idTest(anyOf(args));
    case 'hasKey':
      return tokenTest('key', testOf(anyOf(args)));
    case 'hasValue':
      return tokenTest('value', testOf(anyOf(args)));
    case 'hasNot':
      if (typeof first !== 'string') throw compileError('hasNot() needs a property name.');
      return (value) => isElement(value) && valuesOf(value, first).length === 0;
    default:
      return hasTest(args);
  }
}

function hasTest(args: readonly GremlinValue[]): Test {
  const [first = null, second = null, third = null] = args;
  // No element has a property without a name.
  if ((args.length === 1 || args.length === 2) && first === null) return () => false;
  if (args.length === 1 && typeof first === 'string')
    return (value) => valuesOf(value, first).length > 0;
  if (args.length === 2 && first instanceof EnumValue && first.type === 'T')
    return first.name === 'id' ? idTest(second) : tokenTest(first.name, testOf(second));
  if (args.length === 2 && typeof first === 'string') return keyTest(first, testOf(second));
  if (args.length === 3 && typeof second === 'string') {
    const label = tokenTest('label', testOf(first));
    const key = keyTest(second, testOf(third));
    return (value) => label(value) && key(value);
  }
  throw compileError('has() needs a property name, and a value or predicate.');
}

/** Ids are the same if their texts are, as in V(). */
function idTest(condition: GremlinValue): Test {
  const exact = tokenTest('id', testOf(condition));
  const named = valuesNamed(condition)?.flatMap((value) => (value === null ? [] : [textOf(value)]));
  if (named === undefined) return exact;
  const texts = new Set(named);
  return (value) => exact(value) || (isElement(value) && texts.has(textOf(value.id)));
}

function keyTest(key: string, test: Test): Test {
  return (value) => valuesOf(value, key).some(test);
}

function tokenTest(name: string, test: Test): Test {
  return (value) => {
    const token = tokenOf(value, name);
    return token !== undefined && test(token);
  };
}

function isElement(value: GremlinValue): value is Vertex | Edge | VertexProperty {
  return value instanceof Vertex || value instanceof Edge || value instanceof VertexProperty;
}

function valuesOf(value: GremlinValue, key: string): readonly GremlinValue[] {
  if (isElement(value)) return propertyValues(value, key);
  return value instanceof Property && value.key === key ? [value.value] : [];
}
