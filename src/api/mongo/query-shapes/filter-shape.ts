/**
 * The shape of a filter. Two kinds: what a plan depends on, for which neither the order of clauses nor most values
 * matter, and what a query says, which keeps the order of its clauses and the types of its values.
 */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';

type ShapeKind = 'plan' | 'query';
type Shape = readonly unknown[];

const CLAUSES: ReadonlySet<string> = new Set(['$and', '$nor', '$or']);
/** Operators that the plan knows by name only. */
const PLAN_NAMES: ReadonlySet<string> = new Set(['$expr', '$type', '$where', '$text']);

export function filterShape(filter: BsonDocument, kind: ShapeKind): Shape {
  const clauses: Shape[] = [];
  for (const [name, value] of filter) {
    if (name === '$comment') continue;
    if (name === '$and' && isArray(value)) for (const each of value) clauses.push(part(each, kind));
    else if (CLAUSES.has(name) && isArray(value))
      clauses.push([
        name,
        ordered(
          value.map((each) => part(each, kind)),
          kind,
        ),
      ]);
    else if (name.startsWith('$')) clauses.push(topLevel(name, value, kind));
    else for (const shape of fieldShapes(name, value, kind)) clauses.push(shape);
  }
  return clauses.length === 1 ? (clauses[0] as Shape) : ['$and', ordered(clauses, kind)];
}

function part(value: Bson, kind: ShapeKind): Shape {
  return isDocument(value) ? filterShape(value, kind) : [typeOf(value)];
}

/** Clauses of a plan have no order of their own. */
function ordered(clauses: readonly Shape[], kind: ShapeKind): readonly Shape[] {
  if (kind === 'query') return clauses;
  return clauses.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function topLevel(name: string, value: Bson, kind: ShapeKind): Shape {
  if (kind === 'plan' && PLAN_NAMES.has(name)) return [name];
  return [name, name === '$jsonSchema' ? exactText(value) : expressionShape(value)];
}

function fieldShapes(field: string, value: Bson, kind: ShapeKind): readonly Shape[] {
  const [first = ''] = isDocument(value) ? value.keys() : [];
  const isOperators = first.startsWith('$') && first !== '$ref' && first !== '$id';
  if (!isDocument(value) || !isOperators) return [[field, '$eq', ...valueShape(value, kind)]];
  return [...value].map(([name, argument]) => [field, ...operatorShape(name, argument, kind)]);
}

function operatorShape(name: string, argument: Bson, kind: ShapeKind): Shape {
  switch (name) {
    case '$in':
    case '$nin':
      return listShape(name, argument, kind);
    case '$all':
      return [name, isArray(argument) ? argument.length : 0];
    case '$exists':
      return [name, argument === true || (isNumber(argument) && doubleOf(argument) !== 0)];
    case '$not':
      return [name, ...(isDocument(argument) ? fieldShapes('', argument, kind) : ['$regex'])];
    case '$elemMatch': {
      const [first = ''] = isDocument(argument) ? argument.keys() : [];
      if (!isDocument(argument)) return [name];
      const isOfValues = first.startsWith('$') && !CLAUSES.has(first);
      return [name, isOfValues ? fieldShapes('', argument, kind) : filterShape(argument, kind)];
    }
    case '$type':
      return kind === 'plan'
        ? [name]
        : [name, (isArray(argument) ? argument : [argument]).map(exactText)];
    case '$mod':
    case '$options':
    case '$regex':
    case '$size':
      return [name];
    default:
      return [name, ...valueShape(argument, kind)];
  }
}

/** A list of one value is the value; of more, their number does not matter. */
function listShape(name: string, argument: Bson, kind: ShapeKind): Shape {
  const list = isArray(argument) ? argument : [];
  if (kind === 'plan') return name === '$in' && list.length === 1 ? ['$eq'] : [name];
  return [name, [...new Set(list.map(typeOf))].sort()];
}

/** A plan does not depend on the type of a value, but on whether it is one that indexes lack. */
function valueShape(value: Bson, kind: ShapeKind): Shape {
  if (kind === 'query') return [typeOf(value)];
  if (value === null || isArray(value)) return [typeOf(value)];
  return bsonTypeOf(value) === 'regex' ? ['regex'] : [];
}

function typeOf(value: Bson): string {
  return isNumber(value) ? '?number' : `?${bsonTypeOf(value)}`;
}

/** Operators, names and paths as they are; other values by their types. */
export function expressionShape(value: Bson): unknown {
  if (isDocument(value)) return [...value].map(([name, inner]) => [name, expressionShape(inner)]);
  if (isArray(value)) return value.map(expressionShape);
  return typeof value === 'string' && value.startsWith('$') ? value : typeOf(value);
}

export function exactText(value: Bson): string {
  if (isDocument(value))
    return `{${[...value].map(([name, inner]) => `${name}:${exactText(inner)}`).join()}}`;
  if (isArray(value)) return `[${value.map(exactText).join()}]`;
  return isNumber(value) ? String(doubleOf(value)) : String(value);
}
