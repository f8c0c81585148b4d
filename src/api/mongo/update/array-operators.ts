/** The update operators of arrays: `$push`, `$addToSet`, `$pull`, `$pullAll`, `$pop`. */
import { spend } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  compareBson,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { BsonSet } from '../aggregate/bson-set.ts';
import { doubleOf, isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { printBson } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import type { CompareBson } from '../query/collation.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter, type DocumentTest } from '../query/filter-test.ts';
import { PLAIN_CONTEXT, type QueryContext } from '../query/query-context.ts';
import { parseSort, Sort } from '../query/sort.ts';
import type { Place } from './mutable.ts';
import type { OperatorContext, OperatorDefinition } from './operators.ts';

export const ARRAY_OPERATORS = {
  $push: { check: checkPush, apply: push },
  $addToSet: { check: checkAddToSet, apply: addToSet },
  $pull: { check: checkPull, apply: pull },
  $pullAll: { check: checkPullAll, apply: pullAll },
  $pop: { check: checkPop, apply: pop },
} satisfies Readonly<Record<string, OperatorDefinition>>;

/** The array at the place; undefined where there is none. */
function arrayAt(place: Place, operator: string): readonly Bson[] | undefined {
  const current = place.get();
  if (current === undefined || isArray(current)) return current;
  switch (operator) {
    case '$push':
      throw new MongoError(
        'BadValue',
        `The field '${place.text}' must be an array but is of type ${bsonTypeOf(current)} in document {_id: ${printBson(place.rootId)}}`,
      );
    case '$pop':
      throw new MongoError(
        'TypeMismatch',
        `Path '${place.text}' contains an element of non-array type '${bsonTypeOf(current)}'`,
      );
    case '$addToSet':
      throw new MongoError(
        'BadValue',
        `Cannot apply $addToSet to non-array field. Field named '${place.path.at(-1)}' has non-array type ${bsonTypeOf(current)}`,
      );
    default:
      throw new MongoError('BadValue', `Cannot apply ${operator} to a non-array value`);
  }
}

const PUSH_CLAUSES: ReadonlySet<string> = new Set(['$each', '$position', '$slice', '$sort']);

function isEachForm(argument: Bson): argument is BsonDocument {
  return isDocument(argument) && argument.has('$each');
}

function checkPush(_: string, argument: Bson): void {
  if (!isDocument(argument)) return;
  if (!argument.has('$each')) return;
  const each = argument.get('$each') as Bson;
  if (!isArray(each))
    throw bad(
      `The argument to $each in $push must be an array but it was of type: ${bsonTypeOf(each)}`,
    );
  for (const [name, value] of argument) {
    if (!PUSH_CLAUSES.has(name)) throw bad(`Unrecognized clause in $push: ${name}`);
    if (name === '$position' || name === '$slice') checkWhole(name, value);
    if (name === '$sort') checkSort(value);
  }
}

function checkWhole(name: string, value: Bson): void {
  if (!isNumber(value) || wholeNumber(value) === undefined)
    throw bad(
      `The value for ${name} must be an integer value but was given type: ${bsonTypeOf(value)}`,
    );
}

function checkSort(sort: Bson): void {
  if (isNumber(sort)) {
    const direction = doubleOf(sort);
    if (direction !== 1 && direction !== -1)
      throw bad('The $sort element value must be either 1 or -1');
    return;
  }
  if (!isDocument(sort))
    throw bad(
      'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields',
    );
  if (sort.size === 0) throw bad('The $sort pattern is empty when it should be a set of fields.');
  for (const [field, direction] of sort) {
    if (field === '') throw bad('The $sort field cannot be empty');
    if (field.split('.').includes(''))
      throw bad(`The $sort field is a dotted field but has an empty part: ${field}`);
    if (!isNumber(direction) || (doubleOf(direction) !== 1 && doubleOf(direction) !== -1))
      throw bad('The $sort element value must be either 1 or -1');
  }
}

function push(place: Place, argument: Bson, { compare }: OperatorContext): void {
  const list = [...(arrayAt(place, '$push') ?? [])];
  if (!isEachForm(argument)) {
    list.push(argument);
    place.set(list);
    return;
  }
  const added = argument.get('$each') as readonly Bson[];
  const position = wholeNumber(argument.get('$position'));
  if (position === undefined) for (const value of added) list.push(value);
  else list.splice(position < 0 ? Math.max(0, list.length + position) : position, 0, ...added);
  const sort = argument.get('$sort');
  if (sort !== undefined) sortList(list, sort, compare);
  place.set(sliced(list, argument));
}

function sortList(list: Bson[], sort: Bson, compare: CompareBson): void {
  const direction = wholeNumber(sort);
  if (direction !== undefined) {
    list.sort((a, b) => compare(a, b) * direction);
    return;
  }
  const by = new Sort(parseSort(sort as BsonDocument), compare);
  const keyed = list.map((value) => ({
    value,
    key: by.keyOf(isDocument(value) ? value : new Map()),
  }));
  keyed.sort((a, b) => by.compare(a.key, b.key));
  for (const [at, { value }] of keyed.entries()) list[at] = value;
}

function sliced(list: readonly Bson[], argument: BsonDocument): readonly Bson[] {
  const count = wholeNumber(argument.get('$slice'));
  if (count === undefined) return list;
  return count >= 0 ? list.slice(0, count) : list.slice(count);
}

function checkAddToSet(_: string, argument: Bson): void {
  if (!isDocument(argument)) return;
  const [first] = argument.keys();
  if (first !== '$each') return;
  const each = argument.get('$each') as Bson;
  if (!isArray(each))
    throw new MongoError(
      'TypeMismatch',
      `The argument to $each in $addToSet must be an array but it was of type ${bsonTypeOf(each)}`,
    );
  if (argument.size > 1)
    throw bad(`Found unexpected fields after $each in $addToSet: ${printBson(argument)}`);
}

function addToSet(place: Place, argument: Bson, { compare }: OperatorContext): void {
  const added = isEachForm(argument) ? (argument.get('$each') as readonly Bson[]) : [argument];
  const current = arrayAt(place, '$addToSet');
  const list = [...(current ?? [])];
  const has = compare === compareBson ? valueSet(list) : undefined;
  for (const value of added) {
    const isNew = has === undefined ? !contains(list, value, compare) : has.add(value);
    if (isNew) list.push(value);
  }
  if (current === undefined || list.length > current.length) place.set(list);
}

/** Simple comparisons look values up; those of a collation look at each. */
function valueSet(values: readonly Bson[]): BsonSet {
  const set = new BsonSet();
  for (const value of values) {
    spend(20);
    set.add(value);
  }
  return set;
}

function contains(list: readonly Bson[], value: Bson, compare: CompareBson): boolean {
  return list.some((other) => {
    spend(5);
    return compare(other, value) === 0;
  });
}

function checkPull(_: string, argument: Bson, context: QueryContext): void {
  pullTest(argument, context);
}

/** Compiled conditions by their arguments, which live as long as the update. */
const PULL_TESTS = new WeakMap<object, DocumentTest>();

/** The condition is a value, operators on elements, or a filter of documents. */
function pullTest(argument: Bson, context: QueryContext): DocumentTest | undefined {
  const isRegex = argument instanceof Extended && argument.payload.kind === 'regex';
  if (!isDocument(argument) && !isRegex) return undefined;
  const known = PULL_TESTS.get(argument as object);
  if (known !== undefined) return known;
  const [first = ''] = isDocument(argument) ? argument.keys() : ['$'];
  const isOnElement =
    first.startsWith('$') &&
    first !== '$and' &&
    first !== '$or' &&
    first !== '$nor' &&
    first !== '$expr';
  const compare = context.collation?.compare;
  let test: DocumentTest;
  if (isOnElement)
    test = compileFilter(parseFilter(new Map([['element', argument]]), context), compare);
  else {
    const matches = compileFilter(parseFilter(argument as BsonDocument, context), compare);
    test = (wrapped) => {
      const element = wrapped.get('element');
      return isDocument(element) && matches(element);
    };
  }
  PULL_TESTS.set(argument as object, test);
  return test;
}

function pull(place: Place, argument: Bson, { compare }: OperatorContext): void {
  const test = pullTest(argument, PLAIN_CONTEXT);
  keepWhere(place, '$pull', (element) =>
    test === undefined ? compare(element, argument) !== 0 : !test(new Map([['element', element]])),
  );
}

function checkPullAll(_: string, argument: Bson): void {
  if (!isArray(argument))
    throw bad(`$pullAll requires an array argument but was given a ${bsonTypeOf(argument)}`);
}

function pullAll(place: Place, argument: Bson, { compare }: OperatorContext): void {
  const unwanted = argument as readonly Bson[];
  const set = compare === compareBson ? valueSet(unwanted) : undefined;
  keepWhere(
    place,
    '$pullAll',
    (element) => !(set?.has(element) ?? contains(unwanted, element, compare)),
  );
}

function keepWhere(place: Place, operator: string, keeps: (element: Bson) => boolean): void {
  const list = arrayAt(place, operator);
  if (list === undefined) return;
  const kept = list.filter((element) => {
    spend(10);
    return keeps(element);
  });
  place.set(kept);
}

function checkPop(path: string, argument: Bson): void {
  if (!isNumber(argument))
    throw new MongoError('FailedToParse', `Expected a number in: ${path}: ${printBson(argument)}`);
  const end = doubleOf(argument);
  if (end !== 1 && end !== -1)
    throw new MongoError('FailedToParse', `$pop expects 1 or -1, found: ${printBson(argument)}`);
}

function pop(place: Place, argument: Bson): void {
  place.refuseUnviable();
  const list = arrayAt(place, '$pop');
  if (list !== undefined) place.set(doubleOf(argument) > 0 ? list.slice(0, -1) : list.slice(1));
}

function bad(message: string): MongoError {
  return new MongoError('BadValue', message);
}
