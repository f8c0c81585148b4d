/** Scalar expressions → closures. Whatever is known before the first row (names, patterns, sets) is computed here. */
import { draw, listBytes, spend, unreachable } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { diagnostics, SqlError } from '../errors.ts';
import {
  type Between,
  type Binary,
  chainOperands,
  type Expression,
  type Identifier,
  type In,
  type Index,
  type Like,
  type ObjectCreation,
  type Parameter,
  type Subquery,
  type UdfCall,
} from '../language/ast.ts';
import { childrenOf } from '../language/ast-walk.ts';
import { firstResults, resultsOf } from '../run/block-run.ts';
import { type ValueKey, valueKey } from '../run/value-key.ts';
import type { Block, Compiled, Slots } from './block.ts';
import {
  type Compilable,
  type Compilation,
  constantFolded,
  constantOf,
  NO_COMPUTED,
  NO_SCOPE,
  type Scope,
  scopeOfOne,
  varying,
} from './compilation.ts';
import { compileCall, NOT_FINITE } from './compile-call.ts';
import { likeMatcher, type Matcher } from './like.ts';
import {
  binaryOperators,
  comparisonWithConstant,
  comparisonWithParameter,
  conjunction,
  disjunction,
  memberOf,
  propertyAccess,
  unaryOperators,
} from './operators.ts';

export function compileExpression(
  expression: Expression,
  scope: Scope,
  compilation: Compilation,
): Compiled {
  return compile(expression, scope, compilation).run;
}

/** The value of an expression that does not depend on a row; undefined if it is volatile or has unbound names. */
export function constantValue(
  expression: Expression,
  compilation: Compilation,
): { readonly value: Value } | undefined {
  const { constant } = compile(expression, NO_SCOPE, compilation);
  return compilation.diagnostics.length > 0 ? undefined : constant;
}

export function dependsOnRow(expression: Expression): boolean {
  switch (expression.kind) {
    case 'identifier':
    case 'subquery':
    case 'udfCall':
    case 'placeholder':
      return true;
    default:
      return childrenOf(expression).some(dependsOnRow);
  }
}

function compile(expression: Expression, scope: Scope, compilation: Compilation): Compilable {
  const slot = scope.findGroupSlot(expression);
  if (slot !== undefined) return varying((row) => row[slot]);
  const inner = (part: Expression) => compile(part, scope, compilation);
  switch (expression.kind) {
    case 'literal':
      return constantOf(expression.value);
    case 'parameter':
      return compileParameter(expression, compilation);
    case 'identifier':
      return compileIdentifier(expression, scope, compilation);
    case 'placeholder':
      return constantOf(true);
    case 'property': {
      const computed = compileComputed(expression.base, expression.name, scope, compilation);
      if (computed) return computed;
      const base = inner(expression.base);
      return constantFolded(propertyAccess(base.run, expression.name), base);
    }
    case 'index':
      return compileIndex(expression, inner, scope, compilation);
    case 'array':
      return compileArray(expression.items.map(inner));
    case 'object':
      return compileObject(expression, inner);
    case 'unary': {
      const operand = inner(expression.operand);
      const operate = unaryOperators[expression.operator];
      return constantFolded((row) => operate(operand.run(row)), operand);
    }
    case 'binary':
      return compileBinary(expression, inner);
    case 'conditional': {
      const condition = inner(expression.condition);
      const consequent = inner(expression.consequent);
      const alternative = inner(expression.alternative);
      const run: Compiled = (row) =>
        condition.run(row) === true ? consequent.run(row) : alternative.run(row);
      return constantFolded(run, condition, consequent, alternative);
    }
    case 'between':
      return compileBetween(expression, inner);
    case 'in':
      return compileIn(expression, inner);
    case 'like':
      return compileLike(expression, inner);
    case 'call':
      return compileCall(expression, inner, compilation);
    case 'udfCall':
      return compileUdfCall(expression, inner, compilation);
    case 'subquery':
      return varying(compileSubquery(expression, scope, compilation));
    default:
      return unreachable(expression);
  }
}

/** A parameter whose value is known before the rows is a constant; any other is read from its slot. */
function compileParameter({ name, span }: Parameter, compilation: Compilation): Compilable {
  const given = compilation.parameterValue?.(name);
  if (given) return constantOf(given.value);
  const slot = compilation.parameterSlot(name, span);
  return varying((row) => row[slot]);
}

function compileIdentifier(
  { name, span }: Identifier,
  scope: Scope,
  compilation: Compilation,
): Compilable {
  const slot = scope.find(name);
  if (slot !== undefined) return varying((row) => row[slot]);
  if (!NOT_FINITE.has(name)) compilation.diagnostics.push(diagnostics.identifier(name, span));
  return constantOf(undefined);
}

function compileIndex(
  expression: Index,
  inner: (part: Expression) => Compilable,
  scope: Scope,
  compilation: Compilation,
): Compilable {
  if (dependsOnRow(expression.index))
    compilation.diagnostics.push(diagnostics.memberIndexer(expression.span));
  const base = inner(expression.base);
  const index = inner(expression.index);
  if (typeof index.constant?.value === 'string') {
    const name = index.constant.value;
    const computed = compileComputed(expression.base, name, scope, compilation);
    return computed ?? constantFolded(propertyAccess(base.run, name), base);
  }
  return constantFolded((row) => memberOf(base.run(row), index.run(row)), base, index);
}

function compileBinary(expression: Binary, inner: (part: Expression) => Compilable): Compilable {
  const { operator } = expression;
  if (operator === 'AND' || operator === 'OR') {
    const operands = chainOperands(expression, operator).map(inner);
    const combine = operator === 'AND' ? conjunction : disjunction;
    return constantFolded(combine(operands.map((operand) => operand.run)), ...operands);
  }
  const left = inner(expression.left);
  const right = inner(expression.right);
  if (operator === '??')
    return constantFolded(
      (row) => {
        const value = left.run(row);
        return value === undefined ? right.run(row) : value;
      },
      left,
      right,
    );
  if (right.constant && !left.constant) {
    const quick = comparisonWithConstant(operator, left.run, right.constant.value);
    if (quick) return varying(quick);
  }
  if (expression.right.kind === 'parameter' && !right.constant && !left.constant)
    return varying(comparisonWithParameter(operator, left.run, right.run));
  const operate = binaryOperators[operator];
  return constantFolded((row) => operate(left.run(row), right.run(row)), left, right);
}

function compileBetween(
  { value: tested, low: from, high: to, isNegated }: Between,
  inner: (part: Expression) => Compilable,
): Compilable {
  const value = inner(tested);
  const low = inner(from);
  const high = inner(to);
  const isBetween = conjunction([
    (row) => binaryOperators['>='](value.run(row), low.run(row)),
    (row) => binaryOperators['<='](value.run(row), high.run(row)),
  ]);
  return constantFolded(negatedIf(isNegated, isBetween), value, low, high);
}

/** The computed property of that name, where the base is an item and has one. */
function compileComputed(
  base: Expression,
  name: string,
  scope: Scope,
  compilation: Compilation,
): Compilable | undefined {
  if (compilation.computed.size === 0 || base.kind !== 'identifier') return undefined;
  const slot = scope.find(base.name);
  return slot === undefined ? undefined : computedOf(slot, name, compilation);
}

/** The computed property of the item in a slot. A computed property cannot use others. */
export function computedOf(
  slot: number,
  name: string,
  compilation: Compilation,
): Compilable | undefined {
  const definition = compilation.itemSlots.has(slot) ? compilation.computed.get(name) : undefined;
  if (!definition) return undefined;
  const { alias, expression } = definition;
  return compile(expression, scopeOfOne(alias, slot), { ...compilation, computed: NO_COMPUTED });
}

function negatedIf(isNegated: boolean, run: Compiled): Compiled {
  return isNegated ? (row) => unaryOperators.NOT(run(row)) : run;
}

function compileArray(items: readonly Compilable[]): Compilable {
  const runs = items.map((item) => item.run);
  return constantFolded(
    (row) => {
      draw(listBytes(runs.length));
      const values: Value[] = [];
      for (const run of runs) {
        const value = run(row);
        if (value !== undefined) values.push(value);
      }
      return values;
    },
    ...items,
  );
}

function compileObject(
  expression: ObjectCreation,
  inner: (part: Expression) => Compilable,
): Compilable {
  const parts = expression.properties.map(({ name, value }) => ({ name, value: inner(value) }));
  const run = objectOf(parts.map(({ name, value }) => ({ name, run: value.run })));
  return constantFolded(run, ...parts.map((part) => part.value));
}

/** An object of the defined values; `__proto__` is a name like any other. */
export function objectOf(
  properties: readonly { readonly name: string; readonly run: Compiled }[],
): Compiled {
  return (row) => {
    draw(64 + 16 * properties.length);
    const result: Record<string, Value> = {};
    for (const { name, run } of properties) {
      const value = run(row);
      if (value === undefined) continue;
      if (name === '__proto__')
        Object.defineProperty(result, name, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      else result[name] = value;
    }
    return result;
  };
}

/** A set of keys when the items do not depend on the row, parameters included; else one comparison after the other. */
function compileIn(expression: In, inner: (part: Expression) => Compilable): Compilable {
  const value = inner(expression.value);
  const items = expression.items.map(inner);
  const isFixed = expression.items.every(
    (item, at) => items[at]?.constant !== undefined || item.kind === 'parameter',
  );
  const isAmong = isFixed
    ? membershipInSet(value.run, items)
    : disjunction(
        items.map((item) => (row) => binaryOperators['='](value.run(row), item.run(row))),
      );
  return constantFolded(negatedIf(expression.isNegated, isAmong), value, ...items);
}

function membershipInSet(value: Compiled, items: readonly Compilable[]): Compiled {
  const constants = items.filter((item) => item.constant).map((item) => item.constant?.value);
  const parameters = items.filter((item) => !item.constant).map((item) => item.run);
  const keys = new Set<ValueKey>(constants.filter((item) => item !== undefined).map(valueKey));
  const hasUndefined = constants.includes(undefined);
  return (row) => {
    const wanted = value(row);
    if (wanted === undefined) return undefined;
    if (keys.has(valueKey(wanted))) return true;
    spend(parameters.length);
    let isUnknown = hasUndefined;
    for (const parameter of parameters) {
      const equal = binaryOperators['='](wanted, parameter(row));
      if (equal === true) return true;
      if (equal === undefined) isUnknown = true;
    }
    return isUnknown ? undefined : false;
  };
}

function compileLike(expression: Like, inner: (part: Expression) => Compilable): Compilable {
  const value = inner(expression.value);
  const pattern = inner(expression.pattern);
  let lastPattern: string | undefined;
  let matcher: Matcher | undefined;
  const run: Compiled = (row) => {
    const text = value.run(row);
    const wanted = pattern.run(row);
    if (typeof text !== 'string' || typeof wanted !== 'string') return undefined;
    if (matcher === undefined || wanted !== lastPattern) {
      matcher = likeMatcher(wanted, expression.escape);
      lastPattern = wanted;
    }
    return matcher(text);
  };
  return constantFolded(negatedIf(expression.isNegated, run), value, pattern);
}

function compileUdfCall(
  expression: UdfCall,
  inner: (part: Expression) => Compilable,
  compilation: Compilation,
): Compilable {
  const args = expression.arguments.map((part) => inner(part).run);
  const udf = compilation.findUdf(expression.name);
  if (!udf) {
    compilation.diagnostics.push(diagnostics.unknownUdf(expression.name, expression.span));
    return constantOf(undefined);
  }
  return varying((row) => udf(...args.map((arg) => arg(row))));
}

function compileSubquery(expression: Subquery, scope: Scope, compilation: Compilation): Compiled {
  const block = compilation.compileSubquery(expression.query, scope);
  switch (expression.form) {
    case 'scalar':
      return (row) => scalarResult(block, row);
    case 'exists':
      return (row) => firstResults(block, row, 1).length > 0;
    case 'array':
      return (row) => resultsOf(block, row);
    case 'all':
      return (row) => resultsOf(block, row).every((value) => value === true);
    case 'first':
      return (row) => firstResults(block, row, 1)[0];
    case 'last':
      return (row) => resultsOf(block, row).at(-1);
    default:
      return unreachable(expression.form);
  }
}

function scalarResult(block: Block, row: Slots): Value {
  const [first, second] = firstResults(block, row, 2);
  if (second !== undefined) throw new SqlError(diagnostics.scalarRows());
  return first;
}
