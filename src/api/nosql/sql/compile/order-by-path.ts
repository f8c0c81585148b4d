/**
 * Whether ORDER BY names paths of the item. An alias means what its source selects: a path, an object whose
 * properties may be paths, or something computed, which no index has in order.
 */

import { diagnostics, SqlError } from '../errors.ts';
import type { Collection, Expression, OrderBy, Query } from '../language/ast.ts';
import { sourcesOf } from '../language/ast-walk.ts';
import { isScore } from '../run/vector-order.ts';

/** The meaning of a name or an expression. */
type Meaning = 'path' | 'computed' | ReadonlyMap<string, () => Meaning>;

/** Finds the meaning of a visible alias; undefined for any other name. */
type FindAlias = (name: string) => Meaning | undefined;

const NO_ALIASES: FindAlias = () => undefined;

/** Throws SqlError unless every item of ORDER BY is a path or a score. */
export function requireOrderedPaths(query: Query, { items }: OrderBy): void {
  const find = aliasesOf(query, NO_ALIASES);
  const isPath = (expression: Expression) => meaningOf(expression, find) === 'path';
  if (items.every(({ expression }) => isScore(expression) || isPath(expression))) return;
  throw new SqlError(diagnostics.orderByPath());
}

function aliasesOf(query: Query, outer: FindAlias): FindAlias {
  const aliases = new Map<string, Meaning>();
  const find: FindAlias = (name) => aliases.get(name) ?? outer(name);
  for (const source of sourcesOf(query.from)) {
    const { collection } = source;
    const meaning = collectionMeaning(collection, find);
    if (source.kind === 'iterator') {
      aliases.set(source.name, meaning === 'path' ? 'path' : 'computed');
      continue;
    }
    const alias = source.alias ?? (collection.kind === 'path' ? lastNameOf(collection) : undefined);
    if (alias !== undefined) aliases.set(alias, meaning);
  }
  return find;
}

function lastNameOf({ root, steps }: Extract<Collection, { kind: 'path' }>): string {
  return steps.flatMap((step) => (step.kind === 'number' ? [] : [step.name])).at(-1) ?? root;
}

function collectionMeaning(collection: Collection, find: FindAlias): Meaning {
  if (collection.kind === 'subquery') return selectedMeaning(collection.query, find);
  // A name that is no alias is the container.
  return collection.steps.reduce<Meaning>(
    (at, step) => memberMeaning(at, step.kind === 'number' ? step.index : step.name),
    find(collection.root) ?? 'path',
  );
}

function selectedMeaning(query: Query, outer: FindAlias): Meaning {
  const find = aliasesOf(query, outer);
  const { selection } = query.select;
  switch (selection.kind) {
    case 'value':
      return meaningOf(selection.expression, find);
    case 'star': {
      const [source] = sourcesOf(query.from);
      return source ? collectionMeaning(source.collection, outer) : 'computed';
    }
    case 'list':
      return new Map(
        selection.items.map(({ expression, alias }) => [
          alias ?? nameOf(expression) ?? '',
          () => meaningOf(expression, find),
        ]),
      );
  }
}

function nameOf(expression: Expression): string | undefined {
  if (expression.kind === 'identifier' || expression.kind === 'property') return expression.name;
  const isNamed = expression.kind === 'index' && expression.index.kind === 'literal';
  return isNamed ? String((expression.index as { value: unknown }).value) : undefined;
}

function meaningOf(expression: Expression, find: FindAlias): Meaning {
  switch (expression.kind) {
    case 'identifier':
      // An unknown name is reported where it is bound.
      return find(expression.name) ?? 'path';
    case 'property':
      return memberMeaning(meaningOf(expression.base, find), expression.name);
    case 'index': {
      const { base, index } = expression;
      const name = index.kind === 'literal' ? index.value : undefined;
      return memberMeaning(meaningOf(base, find), name);
    }
    case 'object':
      return new Map(
        expression.properties.map(({ name, value }) => [name, () => meaningOf(value, find)]),
      );
    default:
      return 'computed';
  }
}

function memberMeaning(whole: Meaning, name: unknown): Meaning {
  if (typeof whole === 'string') return whole;
  return (typeof name === 'string' ? whole.get(name)?.() : undefined) ?? 'computed';
}
