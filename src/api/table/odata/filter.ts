/**
 * A filter for the shared query layer: a condition over indexed paths that finds at least all matches, and a test that
 * decides. A comparison with a missing property, or one of another type, is false, whatever the comparator.
 */
import {
  ANYTHING,
  allOf,
  anyOf,
  type Condition,
  comparedTo,
  equalTo,
  NOTHING,
  term,
} from '../../../query/index.ts';
import {
  compareValues,
  isNumeric,
  TYPE_ANNOTATION,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import type { Literal, LiteralKind } from './lexer.ts';
import { type Comparator, type Filter, holds } from './parser.ts';

export type Test = (entity: ValueMap) => boolean;

export function conditionOf(filter: Filter): Condition {
  switch (filter.kind) {
    case 'and':
      return allOf(...filter.of.map(conditionOf));
    case 'or':
      return anyOf(...filter.of.map(conditionOf));
    case 'comparison':
      return comparisonCondition(filter.property, filter.comparator, filter.literal);
    case 'constant':
      return filter.value ? ANYTHING : NOTHING;
    case 'not':
    case 'properties':
      return ANYTHING;
  }
}

function comparisonCondition(
  property: string,
  comparator: Comparator,
  { type, value }: Literal,
): Condition {
  const path = [property];
  // Base64 does not keep the order of the bytes.
  if (type === 'binary' && comparator !== 'eq') return ANYTHING;
  if (Number.isNaN(value)) return ANYTHING;
  switch (comparator) {
    case 'eq':
      return term(path, [equalTo(value)]);
    case 'ne':
      return term(path, [comparedTo('<', value), comparedTo('>', value)]);
    case 'gt':
      return term(path, [comparedTo('>', value)]);
    case 'ge':
      return term(path, [comparedTo('>=', value)]);
    case 'lt':
      return term(path, [comparedTo('<', value)]);
    case 'le':
      return term(path, [comparedTo('<=', value)]);
  }
}

export function testOf(filter: Filter): Test {
  switch (filter.kind) {
    case 'and': {
      const tests = filter.of.map(testOf);
      return (entity) => tests.every((test) => test(entity));
    }
    case 'or': {
      const tests = filter.of.map(testOf);
      return (entity) => tests.some((test) => test(entity));
    }
    case 'not': {
      const test = testOf(filter.of);
      return (entity) => !test(entity);
    }
    case 'constant':
      return () => filter.value;
    case 'properties':
      return propertiesTest(filter.left, filter.comparator, filter.right);
    case 'comparison':
      return comparisonTest(filter.property, filter.comparator, filter.literal);
  }
}

function comparisonTest(property: string, comparator: Comparator, literal: Literal): Test {
  const { type, value } = literal;
  const kindOf = kindReader(property);
  return (entity) => {
    const found = entity[property];
    if (found === undefined || kindOf(entity, found) !== type) return false;
    return holds(comparator, compareOf(type, found, value));
  };
}

function propertiesTest(left: string, comparator: Comparator, right: string): Test {
  const leftKind = kindReader(left);
  const rightKind = kindReader(right);
  return (entity) => {
    const a = entity[left];
    const b = entity[right];
    if (a === undefined || b === undefined) return false;
    const kind = leftKind(entity, a);
    return kind === rightKind(entity, b) && holds(comparator, compareOf(kind, a, b));
  };
}

function compareOf(kind: LiteralKind, a: Value, b: Value): number {
  if (kind !== 'binary') return compareValues(a, b);
  return Buffer.compare(Buffer.from(a as string, 'base64'), Buffer.from(b as string, 'base64'));
}

/** The annotation distinguishes strings of other types; the timestamp has none. */
function kindReader(property: string): (entity: ValueMap, value: Value) => LiteralKind {
  if (property === 'Timestamp') return () => 'dateTime';
  const annotation = `${property}${TYPE_ANNOTATION}`;
  return (entity, value) => {
    if (typeof value === 'boolean') return 'boolean';
    if (isNumeric(value)) return 'number';
    switch (entity[annotation]) {
      case 'Edm.DateTime':
        return 'dateTime';
      case 'Edm.Guid':
        return 'guid';
      case 'Edm.Binary':
        return 'binary';
      default:
        return 'string';
    }
  };
}

/** The partition keys an entity must have one of; undefined where any may match. */
export function partitionKeysOf(filter: Filter): ReadonlySet<string> | undefined {
  switch (filter.kind) {
    case 'comparison':
      return filter.property === 'PartitionKey' &&
        filter.comparator === 'eq' &&
        filter.literal.type === 'string'
        ? new Set([filter.literal.value as string])
        : undefined;
    case 'and': {
      let common: ReadonlySet<string> | undefined;
      for (const part of filter.of) {
        const keys = partitionKeysOf(part);
        if (keys !== undefined) common = common === undefined ? keys : common.intersection(keys);
      }
      return common;
    }
    case 'or': {
      let all: ReadonlySet<string> = new Set();
      for (const part of filter.of) {
        const keys = partitionKeysOf(part);
        if (keys === undefined) return undefined;
        all = all.union(keys);
      }
      return all;
    }
    default:
      return undefined;
  }
}
