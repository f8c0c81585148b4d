/** Evaluates expressions before the first row, for planners: their value, or a function of one part of them. */
import { unreachable } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import type { FindConstant } from '../conditions/key-ranges.ts';
import { type FunctionEnvironment, findFunction } from '../functions/index.ts';
import type { Expression } from '../language/ast.ts';
import { childrenOf } from '../language/ast-walk.ts';
import type { QueryParameter } from '../run/evaluate.ts';
import type { Slots } from './block.ts';
import {
  type Compilation,
  NO_COMPUTED,
  NO_SCOPE,
  renewConstants,
  type Scope,
} from './compilation.ts';
import { type CompileOptions, DEFAULT_ENVIRONMENT } from './compile.ts';
import { compileExpression, constantValue, dependsOnRow } from './compile-expression.ts';

export interface ConstantOptions extends CompileOptions {
  /** The start time of the query; without it the functions of the start time are no constants. */
  readonly startMs?: number | undefined;
}

/** Evaluates constant expressions, with the parameters filled in. */
export function constantFinder(
  parameters: readonly QueryParameter[],
  options: ConstantOptions = {},
): FindConstant {
  return finderOf(new Constants(parameters, options));
}

function finderOf(constants: Constants): FindConstant {
  return (expression) => {
    if (expression.kind === 'literal') return expression;
    if (expression.kind === 'parameter') return constants.valueOf(expression.name);
    return dependsOnRow(expression) ? undefined : constantValue(expression, constants.begin());
  };
}

/** Compiles an expression to a function of one part of it; undefined where it depends on more than constants. */
export type CompileOver = (
  expression: Expression,
  isPart: (expression: Expression) => boolean,
) => ((value: Value) => Value) | undefined;

export function compilerOver(
  parameters: readonly QueryParameter[],
  options: ConstantOptions = {},
): CompileOver {
  const constants = new Constants(parameters, options);
  const findConstant = finderOf(constants);
  const isComputable = (expression: Expression, isPart: (part: Expression) => boolean): boolean => {
    if (isPart(expression) || findConstant(expression)) return true;
    if (expression.kind === 'udfCall') return false;
    if (expression.kind === 'call') {
      const { environment } = constants.begin();
      if (!findFunction(expression.name, environment)?.isDeterministic) return false;
    }
    const children = childrenOf(expression);
    return children.length > 0 && children.every((child) => isComputable(child, isPart));
  };
  return (expression, isPart) => {
    if (!isComputable(expression, isPart)) return undefined;
    const compilation = constants.begin();
    const scope: Scope = {
      ...NO_SCOPE,
      findGroupSlot: (part: Expression) => (isPart(part) ? 0 : undefined),
    };
    const run = compileExpression(expression, scope, compilation);
    if (compilation.diagnostics.length > 0) return undefined;
    const row: Slots = [undefined];
    return (value) => {
      row[0] = value;
      return run(row);
    };
  };
}

/** Parameters and environment, prepared when first needed: most filters need little of them. */
class Constants {
  readonly #parameters: readonly QueryParameter[];
  readonly #options: ConstantOptions;
  #byName: ReadonlyMap<string, QueryParameter> | undefined;
  #environment: FunctionEnvironment | undefined;

  constructor(parameters: readonly QueryParameter[], options: ConstantOptions) {
    this.#parameters = parameters;
    this.#options = options;
    renewConstants();
  }

  /** The value of a parameter; undefined where it is not given. */
  valueOf(name: string): { readonly value: Value } | undefined {
    this.#byName ??= new Map(this.#parameters.map((each) => [each.name, each]));
    const parameter = this.#byName.get(name);
    return parameter && { value: parameter.value };
  }

  begin(): Compilation {
    this.#environment ??= { ...DEFAULT_ENVIRONMENT, ...this.#options.environment };
    return {
      environment: this.#environment,
      findUdf: () => undefined,
      diagnostics: [],
      computed: NO_COMPUTED,
      itemSlots: new Set(),
      startMs: this.#options.startMs,
      allocateSlot: () => 0,
      parameterSlot: () => 0,
      parameterValue: (name) => this.valueOf(name),
      compileSubquery: (query) => unreachable(query as never),
    };
  }
}
