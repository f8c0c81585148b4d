/**
 * Computed properties: a name for an expression over one item, such as `SELECT VALUE LOWER(c.name) FROM c`. In a query
 * `c.property` of an item `c` then means the expression; the stored item does not have the property.
 */
import { DomainError, EvaluationBudget, INDEXED_EVALUATION } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { SqlError } from '../errors.ts';
import { findFunction } from '../functions/index.ts';
import type { Expression, Query } from '../language/ast.ts';
import { childrenOf, sourcesOf } from '../language/ast-walk.ts';
import { parseQuery } from '../language/parser.ts';
import { findAggregate } from '../run/aggregates.ts';
import type { Slots } from './block.ts';
import { type ComputedDefinition, NO_COMPUTED, scopeOfOne } from './compilation.ts';
import { type CompileOptions, DEFAULT_ENVIRONMENT } from './compile.ts';
import { compileExpression } from './compile-expression.ts';

/** Throws `invalidInput` unless the definition is a function of the item alone. */
export function parseComputed(name: string, text: string): ComputedDefinition {
  const query = parsed(name, text);
  const { selection, isDistinct, top } = query.select;
  const hasOtherClauses =
    isDistinct || top || query.where || query.groupBy || query.orderBy || query.window;
  if (selection.kind !== 'value' || hasOtherClauses)
    throw invalid(name, "must have the form 'SELECT VALUE <expression> FROM c'");
  const alias = rootAlias(query);
  if (alias === undefined) throw invalid(name, 'must read the item as a whole, as in FROM c');
  check(selection.expression, name);
  const definition = { alias, expression: selection.expression };
  const diagnostic = compiled(definition).problems[0];
  if (diagnostic !== undefined) throw invalid(name, `is not valid: ${diagnostic.message}`);
  return definition;
}

/** The function from an item to the value of the property. */
export function computerOf(definition: ComputedDefinition): (item: Value) => Value {
  const { run } = compiled(definition);
  const row: Slots = [undefined, undefined];
  const budget = new EvaluationBudget(INDEXED_EVALUATION);
  return (item) => {
    row[ITEM_SLOT] = item;
    try {
      return budget.run(() => run(row));
    } catch (error) {
      // An evaluation over budget has no index entry; a query that uses the property gets the error itself.
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  };
}

const ITEM_SLOT = 1;

function compiled({ alias, expression }: ComputedDefinition, options: CompileOptions = {}) {
  const diagnostics: SqlError['diagnostics'][number][] = [];
  const run = compileExpression(expression, scopeOfOne(alias, ITEM_SLOT), {
    environment: { ...DEFAULT_ENVIRONMENT, ...options.environment },
    findUdf: () => undefined,
    diagnostics,
    computed: NO_COMPUTED,
    itemSlots: new Set(),
    allocateSlot: () => 0,
    parameterSlot: () => 0,
    compileSubquery: () => {
      throw new DomainError('invalidInput', 'A computed property has no subqueries.');
    },
  });
  return { run, problems: diagnostics };
}

function parsed(name: string, text: string): Query {
  try {
    return parseQuery(text);
  } catch (error) {
    if (error instanceof SqlError) throw invalid(name, `cannot be read: ${error.message}`);
    throw error;
  }
}

/** The alias of the item; undefined where the query reads anything else. */
function rootAlias({ from }: Query): string | undefined {
  const [source, ...others] = sourcesOf(from);
  if (source === undefined || others.length > 0 || source.kind === 'iterator') return undefined;
  const { collection, alias } = source;
  if (collection.kind !== 'path' || collection.steps.length > 0) return undefined;
  return alias ?? collection.root;
}

function check(expression: Expression, name: string): void {
  switch (expression.kind) {
    case 'subquery':
      throw invalid(name, 'must not have subqueries');
    case 'udfCall':
      throw invalid(name, 'must not call user defined functions');
    case 'parameter':
    case 'placeholder':
      throw invalid(name, 'must not have parameters');
    case 'call': {
      const called = expression.name;
      if (findAggregate(called)) throw invalid(name, 'must not have aggregates');
      if (/^_?st_/i.test(called)) throw invalid(name, 'must not call spatial functions');
      if (findFunction(called, DEFAULT_ENVIRONMENT)?.isDeterministic === false)
        throw invalid(name, 'must not depend on time or chance');
    }
  }
  for (const child of childrenOf(expression)) check(child, name);
}

function invalid(name: string, what: string): DomainError {
  return new DomainError('invalidInput', `The query of the computed property '${name}' ${what}.`);
}
