/** Predicates as functions. */
import { BoundedRegex } from '../../../base/index.ts';
import { compileError, runtimeError } from '../errors.ts';
import { areEqual } from '../model/equality.ts';
import { comparePredicate } from '../model/order.ts';
import { EnumValue, Predicate } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';
import { CLASS_NAMES, TYPE_TESTS } from './types.ts';

export type Test = (value: GremlinValue) => boolean;

/** A value alone means equality. */
export function testOf(condition: GremlinValue): Test {
  if (!(condition instanceof Predicate)) return (value) => areEqual(value, condition);
  const { name, values } = condition;
  const [first = null, second = null] = values;
  switch (name) {
    case 'eq':
      return (value) => areEqual(value, first);
    case 'neq':
      return (value) => !areEqual(value, first);
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte':
      return comparison(name, first);
    case 'between':
      return both(comparison('gte', first), comparison('lt', second));
    case 'inside':
      return both(comparison('gt', first), comparison('lt', second));
    case 'outside':
      return either(comparison('lt', first), comparison('gt', second));
    case 'within':
      return (value) => values.some((member) => areEqual(value, member));
    case 'without':
      return (value) => !values.some((member) => areEqual(value, member));
    case 'and':
      return both(testOf(first), testOf(second));
    case 'or':
      return either(testOf(first), testOf(second));
    case 'not': {
      const test = testOf(first);
      return (value) => !test(value);
    }
    case 'typeOf':
      return typeTest(first);
    default:
      return textTest(name, first);
  }
}

function comparison(name: string, bound: GremlinValue): Test {
  return (value) => {
    const compared = comparePredicate(value, bound);
    if (compared === undefined) return false;
    if (name === 'lt') return compared < 0;
    if (name === 'lte') return compared <= 0;
    return name === 'gt' ? compared > 0 : compared >= 0;
  };
}

function typeTest(type: GremlinValue): Test {
  const name = type instanceof EnumValue ? type.name : type;
  const isOfType = typeof name === 'string' ? TYPE_TESTS.get(name.toUpperCase()) : undefined;
  const known = typeof name === 'string' ? TYPE_TESTS.get(CLASS_NAMES[name] ?? '') : undefined;
  const test = type instanceof EnumValue ? isOfType : known;
  if (test === undefined) throw runtimeError(`${String(name)} is not a registered type`);
  return test;
}

const TEXT_TESTS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  startingWith: (text, part) => text.startsWith(part),
  endingWith: (text, part) => text.endsWith(part),
  containing: (text, part) => text.includes(part),
};

function textTest(name: string, argument: GremlinValue): Test {
  const isNegative = name.startsWith('not');
  const bare = isNegative ? `${name.charAt(3).toLowerCase()}${name.slice(4)}` : name;
  if (typeof argument !== 'string') throw compileError(`${name}() needs a text.`);
  const test = bare === 'regex' ? regexTest(argument) : TEXT_TESTS[bare];
  if (test === undefined) throw compileError(`There is no predicate ${name}().`);
  return (value) => typeof value === 'string' && test(value, argument) !== isNegative;
}

function regexTest(source: string): (text: string) => boolean {
  try {
    const regex = new BoundedRegex(source, '');
    return (text) => regex.test(text);
  } catch {
    throw compileError(`'${source}' is not a regular expression.`);
  }
}

function both(a: Test, b: Test): Test {
  return (value) => a(value) && b(value);
}

function either(a: Test, b: Test): Test {
  return (value) => a(value) || b(value);
}
