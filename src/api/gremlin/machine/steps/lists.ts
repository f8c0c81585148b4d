/** Steps on lists: combinations with another list, and tests of members. */
import { compileError, runtimeError, tooMuchMemory } from '../../errors.ts';
import { HELD_TRAVERSERS_MAX } from '../../limits.ts';
import { GremlinMap, GremlinSet } from '../../model/collections.ts';
import { Bytecode, Predicate } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { testOf } from '../predicate.ts';
import { barrierStep, batchStep, evaluate, filterStep, mapStep, type Step } from '../step.ts';
import { listMembers } from './text.ts';

type List = readonly GremlinValue[];

export const LIST_STEPS: StepTable = {
  combine: ({ args }, compiler) => listStep('combine', args, compiler, (a, b) => [...a, ...b]),
  difference: ({ args }, compiler) =>
    listStep('difference', args, compiler, (a, b) => {
      const right = new GremlinSet(b);
      return new GremlinSet(a.filter((member) => !right.has(member)));
    }),
  disjunct: ({ args }, compiler) =>
    listStep('disjunct', args, compiler, (a, b) => {
      const [left, right] = [new GremlinSet(a), new GremlinSet(b)];
      return new GremlinSet([
        ...a.filter((member) => !right.has(member)),
        ...b.filter((member) => !left.has(member)),
      ]);
    }),
  intersect: ({ args }, compiler) =>
    listStep('intersect', args, compiler, (a, b) => {
      const right = new GremlinSet(b);
      return new GremlinSet(a.filter((member) => right.has(member)));
    }),
  merge: ({ args }, compiler) =>
    listStep('merge', args, compiler, (a, b) => new GremlinSet([...a, ...b])),
  product: ({ args }, compiler) =>
    listStep('product', args, compiler, (a, b) => {
      if (a.length * b.length > HELD_TRAVERSERS_MAX)
        throw tooMuchMemory(`The product has more than ${HELD_TRAVERSERS_MAX} members.`);
      return a.flatMap((left) => b.map((right) => [left, right]));
    }),
  all: ({ args: [condition = null] }) => membersStep('all', condition, (a, test) => a.every(test)),
  any: ({ args: [condition = null] }) => membersStep('any', condition, (a, test) => a.some(test)),
  none: ({ args: [condition] }) =>
    condition === undefined
      ? barrierStep(() => [])
      : membersStep('none', condition, (a, test) => !a.some(test)),
};

function membersStep(
  name: string,
  condition: GremlinValue,
  holds: (members: List, test: (value: GremlinValue) => boolean) => boolean,
): Step {
  if (!(condition instanceof Predicate)) throw compileError(`${name}() needs a predicate.`);
  const test = testOf(condition);
  return filterStep(({ value }) => {
    const members = listMembers(value);
    return members !== undefined && holds(members, test);
  });
}

function listStep(
  name: string,
  [argument = null]: readonly GremlinValue[],
  compiler: Compiler,
  apply: (a: List, b: List) => GremlinValue,
): Step {
  if (!(argument instanceof Bytecode)) {
    if (argument instanceof GremlinMap && name === 'merge')
      return mapStep((value) => mergedMaps(value, argument));
    if (argument === null) throw runtimeError(`Argument provided for ${name} step can't be null`);
    const right = listMembers(argument);
    if (right === undefined)
      throw runtimeError(
        `${name} step can only take an array or an Iterable as an argument, encountered ${typeof argument}`,
      );
    return mapStep((value) => applied(name, value, right, apply));
  }
  const child = compiler.pipeline(argument);
  return batchStep(async (batch, frame) => {
    const results = await evaluate(child, batch, frame);
    return batch.flatMap((traverser, at) => {
      const [first] = results[at] ?? [];
      if (first === undefined) return [];
      const { value } = first;
      if (traverser.value === null)
        throw runtimeError(`Incoming traverser for ${name} step can't be null`);
      if (name === 'merge' && traverser.value instanceof GremlinMap)
        return [traverser.to(mergedMaps(traverser.value, value))];
      return [traverser.to(applied(name, traverser.value, resolved(name, value), apply))];
    });
  });
}

function resolved(name: string, value: GremlinValue): List {
  const members = listMembers(value);
  if (members !== undefined) return members;
  throw runtimeError(
    value === null
      ? `traversal argument for ${name} step must yield an iterable type, not null`
      : `traversal argument for ${name} step must yield an iterable type, encountered ${typeof value}`,
  );
}

function applied(
  name: string,
  value: GremlinValue,
  right: List,
  apply: (a: List, b: List) => GremlinValue,
): GremlinValue {
  if (value === null) throw runtimeError(`Incoming traverser for ${name} step can't be null`);
  const members = listMembers(value);
  if (members === undefined)
    throw runtimeError(
      value instanceof GremlinMap
        ? `${name} step type mismatch: expected argument to be Map but got Iterable`
        : `${name} step can only take an array or an Iterable type for incoming traversers, encountered ${typeof value}`,
    );
  return apply(members, right);
}

function mergedMaps(value: GremlinValue, other: GremlinValue): GremlinValue {
  if (value === null) throw runtimeError("Incoming traverser for merge step can't be null");
  if (!(value instanceof GremlinMap))
    throw runtimeError(
      listMembers(value) === undefined
        ? `merge step can only take an array or an Iterable type for incoming traversers, encountered ${typeof value}`
        : 'merge step type mismatch: expected argument to be Iterable but got Map',
    );
  if (!(other instanceof GremlinMap))
    throw runtimeError(
      `merge step expected provided argument to evaluate to a Map, encountered ${typeof other}`,
    );
  return new GremlinMap([...value, ...other]);
}
