/** Binds names and compiles a query to blocks of closures; throws SqlError with every diagnostic. */

import { systemClock, systemRandom } from '../../../../base/index.ts';
import { type Diagnostic, diagnostics, NO_SPAN, type Span, SqlError } from '../errors.ts';
import type { FunctionEnvironment } from '../functions/index.ts';
import type {
  Collection,
  Expression,
  OrderBy,
  PathStep,
  Query,
  SelectItem,
} from '../language/ast.ts';
import { nodeCount, sourcesOf } from '../language/ast-walk.ts';
import { isDistinctInOrder } from '../run/ordered-row.ts';
import { isDescending } from '../run/vector-order.ts';
import type {
  Block,
  Compiled,
  CompiledOrder,
  CompiledParameter,
  CompiledQuery,
  CompiledSource,
} from './block.ts';
import {
  type Compilation,
  type ComputedDefinition,
  NO_COMPUTED,
  NO_SCOPE,
  renewConstants,
  type Scope,
  type UserFunction,
} from './compilation.ts';
import { compileExpression, computedOf, objectOf } from './compile-expression.ts';
import { compileGrouping, requireNoAggregates } from './compile-grouping.ts';
import { checkRank, compileRank } from './compile-rank.ts';
import { memberOf, propertyAccess } from './operators.ts';
import { requireOrderedPaths } from './order-by-path.ts';

export interface CompileOptions {
  readonly environment?: Partial<FunctionEnvironment>;
  /** The user defined function of that name, or undefined if there is none. */
  readonly findUdf?: (name: string) => UserFunction | undefined;
  /** Computed properties of the items, by name. */
  readonly computed?: ReadonlyMap<string, ComputedDefinition>;
}

/** The environment of a query by default. */
export const DEFAULT_ENVIRONMENT: FunctionEnvironment = {
  clock: systemClock,
  random: systemRandom,
  geospatial: 'geography',
  vectorPolicy: new Map(),
  textLanguages: new Map(),
};

export function compileQuery(query: Query, options: CompileOptions = {}): CompiledQuery {
  renewConstants();
  const parameters = new Map<string, CompiledParameter>();
  let slotCount = 1;
  const found: Diagnostic[] = [];
  const compilation: Compilation = {
    environment: { ...DEFAULT_ENVIRONMENT, ...options.environment },
    findUdf: options.findUdf ?? (() => undefined),
    diagnostics: found,
    computed: options.computed ?? NO_COMPUTED,
    itemSlots: new Set(),
    allocateSlot: () => slotCount++,
    parameterSlot(name, span) {
      const existing = parameters.get(name);
      const slot = existing ? existing.slot : slotCount++;
      // Clauses are not compiled in the order of the text.
      if (!existing || span.start < existing.span.start) parameters.set(name, { slot, span });
      return slot;
    },
    compileSubquery(subquery, scope) {
      requireUnordered(subquery, compilation);
      return compileBlock(subquery, scope, compilation, false);
    },
  };
  const block = compileBlock(query, NO_SCOPE, compilation, true);
  if (found.length > 0) throw new SqlError(...found);
  if (query.orderBy && !query.orderBy.isRank && !query.groupBy)
    requireOrderedPaths(query, query.orderBy);
  return { block, slotCount, parameters, filter: query.where };
}

/** A closure per node of the syntax tree, most of them a call and a test. */
const STEPS_PER_NODE = 2;

/** The aliases of one FROM on top of those outside. */
class AliasScope implements Scope {
  readonly #outer: Scope;
  readonly #slots = new Map<string, number>();

  constructor(outer: Scope) {
    this.#outer = outer;
  }

  has(name: string): boolean {
    return this.#slots.has(name);
  }

  add(name: string, slot: number): void {
    this.#slots.set(name, slot);
  }

  find(name: string): number | undefined {
    return this.#slots.get(name) ?? this.#outer.find(name);
  }

  /** A subquery does not see the group slots of the outer query: it sees the row of the group. */
  findGroupSlot(): undefined {
    return undefined;
  }
}

/** In the outermost query, and in a subquery that is first in its FROM, an unknown name is the container. */
function compileBlock(
  query: Query,
  outer: Scope,
  compilation: Compilation,
  mayReadContainer: boolean,
): Block {
  const scope = new AliasScope(outer);
  const sources = compileSources(query, scope, compilation, mayReadContainer);
  const inRow = (expression: Expression) => {
    requireNoAggregates(expression, compilation);
    return compileExpression(expression, scope, compilation);
  };
  const where = query.where && inRow(query.where);
  const { grouping, groupScope } = compileGrouping(query, scope, compilation);
  const project = compileSelection(query, sources, groupScope, compilation);
  const top = query.select.top && inRow(query.select.top);
  if (query.orderBy?.isRank) checkRank(query, outer !== NO_SCOPE, compilation);
  const deduplicates = isDistinctInOrder(query);
  return {
    sources,
    where,
    grouping,
    orderBy: compileOrderBy(query.orderBy, groupScope, compilation),
    rank: query.orderBy?.isRank ? compileRank(query.orderBy, groupScope, compilation) : undefined,
    project,
    isDistinct: query.select.isDistinct && !deduplicates,
    deduplicates,
    top,
    offset: query.window && inRow(query.window.offset),
    limit: query.window && inRow(query.window.limit),
    rowSteps: STEPS_PER_NODE * nodeCount(query),
  };
}

/** Order and counts are refused in subqueries, as by the service: the first rows would depend on the partitions. */
function requireUnordered({ select, orderBy, window }: Query, compilation: Compilation): void {
  const { diagnostics: found } = compilation;
  if (select.top) found.push(diagnostics.topInSubquery(select.topSpan ?? NO_SPAN));
  if (orderBy?.isRank === false) found.push(diagnostics.orderInSubquery(orderBy.span ?? NO_SPAN));
  if (window) found.push(diagnostics.windowInSubquery(window.span ?? NO_SPAN));
}

function compileSources(
  query: Query,
  scope: AliasScope,
  compilation: Compilation,
  mayReadContainer: boolean,
): readonly CompiledSource[] {
  return sourcesOf(query.from).map((source, at) => {
    const mayRead = mayReadContainer && at === 0;
    const slot = compilation.allocateSlot();
    const isIterated = source.kind === 'iterator';
    const compiled = compileCollection(source.collection, {
      slot,
      isIterated,
      scope,
      compilation,
      mayReadContainer: mayRead,
    });
    const alias = isIterated ? source.name : (source.alias ?? impliedAlias(source.collection));
    if (alias !== undefined) addAlias(alias, slot, source.span, scope, compilation);
    return compiled;
  });
}

function addAlias(
  name: string,
  slot: number,
  span: Span,
  scope: AliasScope,
  compilation: Compilation,
): void {
  if (scope.has(name)) compilation.diagnostics.push(diagnostics.duplicateAlias(name, span));
  scope.add(name, slot);
}

/** `FROM c.children` has the alias children. */
function impliedAlias(collection: Collection): string | undefined {
  if (collection.kind === 'subquery') return undefined;
  const names = collection.steps.flatMap((step) => (step.kind === 'number' ? [] : [step.name]));
  return names.at(-1) ?? collection.root;
}

interface CollectionContext {
  readonly slot: number;
  readonly isIterated: boolean;
  readonly scope: AliasScope;
  readonly compilation: Compilation;
  readonly mayReadContainer: boolean;
}

function compileCollection(collection: Collection, context: CollectionContext): CompiledSource {
  const { slot, isIterated, scope, compilation, mayReadContainer } = context;
  if (collection.kind === 'subquery') {
    requireUnordered(collection.query, compilation);
    const block = compileBlock(collection.query, scope, compilation, mayReadContainer);
    return { kind: 'subquery', slot, block, isIterated };
  }
  const root = scope.find(collection.root);
  const isContainer = root === undefined && mayReadContainer;
  if (root === undefined && !isContainer)
    compilation.diagnostics.push(diagnostics.identifier(collection.root, collection.span));
  const rootSlot = isContainer ? slot : (root ?? slot);
  // Before the path is evaluated the slot holds the whole item.
  if (isContainer) compilation.itemSlots.add(slot);
  const value = compilePath(rootSlot, collection.steps, compilation);
  if (collection.steps.length > 0 || isIterated) compilation.itemSlots.delete(slot);
  if (!isContainer)
    return isIterated ? { kind: 'elements', slot, list: value } : { kind: 'value', slot, value };
  if (!isIterated)
    return { kind: 'container', slot, path: collection.steps.length > 0 ? value : undefined };
  return { kind: 'subquery', slot, block: containerBlock(slot, value), isIterated };
}

/** The block of `x IN c.list` over the container: the lists of all items, which the source then iterates. */
function containerBlock(slot: number, project: Compiled): Block {
  return {
    sources: [{ kind: 'container', slot, path: undefined }],
    where: undefined,
    grouping: undefined,
    orderBy: [],
    rank: undefined,
    project,
    isDistinct: false,
    deduplicates: false,
    top: undefined,
    offset: undefined,
    limit: undefined,
    rowSteps: STEPS_PER_NODE,
  };
}

function compilePath(slot: number, steps: readonly PathStep[], compilation: Compilation): Compiled {
  const [first, ...others] = steps;
  const computed =
    first && first.kind !== 'number' ? computedOf(slot, first.name, compilation) : undefined;
  let path: Compiled = computed ? computed.run : (row) => row[slot];
  for (const step of computed ? others : steps) {
    const base = path;
    path =
      step.kind === 'number'
        ? (row) => memberOf(base(row), step.index)
        : propertyAccess(base, step.name);
  }
  return path;
}

function compileSelection(
  query: Query,
  sources: readonly CompiledSource[],
  scope: Scope,
  compilation: Compilation,
): Compiled {
  const { selection } = query.select;
  switch (selection.kind) {
    case 'star': {
      if (query.groupBy) compilation.diagnostics.push(diagnostics.starWithGroupBy(selection.span));
      else if (sources.length === 0)
        compilation.diagnostics.push(diagnostics.starWithoutFrom(selection.span));
      else if (sources.length !== 1)
        compilation.diagnostics.push(diagnostics.starInputs(selection.span));
      const slot = sources[0]?.slot ?? 0;
      return (row) => row[slot];
    }
    case 'value':
      return compileExpression(selection.expression, scope, compilation);
    case 'list': {
      const names = selectNames(selection.items);
      return objectOf(
        selection.items.map((item, at) => ({
          name: names[at] as string,
          run: compileExpression(item.expression, scope, compilation),
        })),
      );
    }
  }
}

/** The alias, else the last name of a path, else $1, $2 … in the order of the nameless. */
export function selectNames(items: readonly SelectItem[]): readonly string[] {
  let nameless = 0;
  return items.map(({ expression, alias }) => alias ?? lastName(expression) ?? `$${++nameless}`);
}

function lastName(expression: Expression): string | undefined {
  switch (expression.kind) {
    case 'identifier':
    case 'property':
      return expression.name;
    case 'index': {
      const { index } = expression;
      return index.kind === 'literal' && typeof index.value === 'string' ? index.value : undefined;
    }
    default:
      return undefined;
  }
}

function compileOrderBy(
  orderBy: OrderBy | undefined,
  scope: Scope,
  compilation: Compilation,
): readonly CompiledOrder[] {
  if (!orderBy || orderBy.isRank) return [];
  return orderBy.items.map(({ expression, direction }) => ({
    value: compileExpression(expression, scope, compilation),
    isDescending: isDescending(expression, direction, compilation.environment.vectorPolicy),
  }));
}
