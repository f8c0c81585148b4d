/**
 * Replaces member names given by parameters, as in `c[@p]`, and weights of RRF given by a parameter. Vector and full text
 * policies are looked up by path, which needs the name; weights are part of the plan.
 */
import { isList, type Value } from '../../../../value/index.ts';
import type { QueryParameter } from '../run/evaluate.ts';
import { isCallOf } from '../run/vector-order.ts';
import type { Call, Collection, Expression, Query, Selection, Source, UdfCall } from './ast.ts';
import { list, literal } from './ast-builders.ts';

/** The query with the names filled in; the same object where nothing changes. */
export function withMemberNames(query: Query, parameters: readonly QueryParameter[]): Query {
  const names = new Map<string, string>();
  const weights = new Map<string, readonly number[]>();
  for (const { name, value } of parameters)
    if (typeof value === 'string') names.set(name, value);
    else if (isNumbers(value)) weights.set(name, value);
  const isNothing = names.size === 0 && weights.size === 0;
  return isNothing ? query : new Naming(names, weights).query(query);
}

function isNumbers(value: Value): value is readonly number[] {
  return isList(value) && value.length <= WEIGHTS_MAX && value.every(isNumber);
}

function isNumber(value: Value): boolean {
  return typeof value === 'number';
}

/** More than a rank can have scores; a longer list is a vector and no list of weights. */
const WEIGHTS_MAX = 100;

class Naming {
  readonly #names: ReadonlyMap<string, string>;
  readonly #weights: ReadonlyMap<string, readonly number[]>;

  constructor(names: ReadonlyMap<string, string>, weights: ReadonlyMap<string, readonly number[]>) {
    this.#names = names;
    this.#weights = weights;
  }

  query(query: Query): Query {
    const selection = this.#selection(query.select.selection);
    const from = query.from && this.#source(query.from);
    const where = query.where && this.#expression(query.where);
    const groupBy = query.groupBy && this.#each(query.groupBy);
    const items =
      query.orderBy && mapped(query.orderBy.items, (item) => this.#part(item, 'expression'));
    const isSame =
      selection === query.select.selection &&
      from === query.from &&
      where === query.where &&
      groupBy === query.groupBy &&
      items === query.orderBy?.items;
    if (isSame) return query;
    return {
      ...query,
      select: { ...query.select, selection },
      ...(from && { from }),
      ...(where && { where }),
      ...(groupBy && { groupBy }),
      ...(query.orderBy && items && { orderBy: { ...query.orderBy, items } }),
    };
  }

  #selection(selection: Selection): Selection {
    switch (selection.kind) {
      case 'star':
        return selection;
      case 'value':
        return this.#part(selection, 'expression');
      case 'list': {
        const items = mapped(selection.items, (item) => this.#part(item, 'expression'));
        return items === selection.items ? selection : { ...selection, items };
      }
    }
  }

  #source(source: Source): Source {
    if (source.kind === 'join') {
      const left = this.#source(source.left);
      const right = this.#source(source.right);
      return left === source.left && right === source.right ? source : { ...source, left, right };
    }
    const collection = this.#collection(source.collection);
    return collection === source.collection ? source : { ...source, collection };
  }

  #collection(collection: Collection): Collection {
    if (collection.kind === 'path') return collection;
    const query = this.query(collection.query);
    return query === collection.query ? collection : { ...collection, query };
  }

  #each(list: readonly Expression[]): readonly Expression[] {
    return mapped(list, (expression) => this.#expression(expression));
  }

  /** An object with one of its expressions replaced. */
  #part<Key extends string, T extends Readonly<Record<Key, Expression>>>(holder: T, key: Key): T {
    const part = this.#expression(holder[key]);
    return part === holder[key] ? holder : { ...holder, [key]: part };
  }

  #parts<Key extends string, T extends Readonly<Record<Key, Expression>>>(
    holder: T,
    ...keys: readonly Key[]
  ): T {
    return keys.reduce((at, key) => this.#part(at, key), holder);
  }

  /** The arguments of RRF, of which the last may be a parameter that holds the weights. */
  #weighted(call: Call | UdfCall): readonly Expression[] {
    const args = call.arguments;
    const last = isCallOf(call, 'RRF') ? args.at(-1) : undefined;
    const weights = last?.kind === 'parameter' ? this.#weights.get(last.name) : undefined;
    return weights ? [...args.slice(0, -1), list(weights.map((weight) => literal(weight)))] : args;
  }

  #expression(expression: Expression): Expression {
    switch (expression.kind) {
      case 'literal':
      case 'parameter':
      case 'identifier':
      case 'placeholder':
        return expression;
      case 'property':
        return this.#part(expression, 'base');
      case 'index': {
        const { index } = expression;
        const name = index.kind === 'parameter' ? this.#names.get(index.name) : undefined;
        if (name === undefined) return this.#parts(expression, 'base', 'index');
        return { ...this.#part(expression, 'base'), index: literal(name) };
      }
      case 'array': {
        const items = this.#each(expression.items);
        return items === expression.items ? expression : { ...expression, items };
      }
      case 'object': {
        const properties = mapped(expression.properties, (each) => this.#part(each, 'value'));
        return properties === expression.properties ? expression : { ...expression, properties };
      }
      case 'unary':
        return this.#part(expression, 'operand');
      case 'binary':
        return this.#parts(expression, 'left', 'right');
      case 'conditional':
        return this.#parts(expression, 'condition', 'consequent', 'alternative');
      case 'between':
        return this.#parts(expression, 'value', 'low', 'high');
      case 'in': {
        const named = this.#part(expression, 'value');
        const items = this.#each(named.items);
        return items === named.items ? named : { ...named, items };
      }
      case 'like':
        return this.#parts(expression, 'value', 'pattern');
      case 'call':
      case 'udfCall': {
        const args = this.#each(this.#weighted(expression));
        return args === expression.arguments ? expression : { ...expression, arguments: args };
      }
      case 'subquery': {
        const query = this.query(expression.query);
        return query === expression.query ? expression : { ...expression, query };
      }
    }
  }
}

/** The list itself where no element is replaced. */
function mapped<T>(list: readonly T[], map: (element: T) => T): readonly T[] {
  let copy: T[] | undefined;
  for (const [at, element] of list.entries()) {
    const next = map(element);
    if (next === element) continue;
    copy ??= [...list];
    copy[at] = next;
  }
  return copy ?? list;
}
