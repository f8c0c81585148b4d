/** Sacks, side effects and calculations: sack, math, fold with an operator, element, index, loops. */
import { compileError, runtimeError } from '../../errors.ts';
import { isNumber, numberOf, toDouble } from '../../model/number.ts';
import { EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, IDENTITY, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { compileExpression } from '../expression.ts';
import { operatorOf } from '../operators.ts';
import { selected } from '../scope.ts';
import { batchStep, mapStep, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';

export const SACK_STEPS: StepTable = {
  sack: (clause, compiler) => sackStep(clause, compiler),
  math: (clause, compiler) => mathStep(clause, compiler),
};

function sackStep({ args: [operator], modulators }: Clause, compiler: Compiler): Step {
  const bys = bysOf(modulators, compiler);
  if (bys.length > 1) throw compileError('Sack step can only have one by modulator');
  if (operator === undefined)
    return mapStep((_, { sack }) => {
      if (sack === undefined) throw runtimeError('The traversal has no sacks.');
      return sack;
    });
  if (!(operator instanceof EnumValue)) throw compileError('sack() needs an operator.');
  const apply = operatorOf(operator);
  const [by = IDENTITY] = bys;
  return batchStep(async (batch, frame) => {
    const values = await resolveBy(by, batch, frame);
    return batch.flatMap((traverser, at) => {
      const value = values[at];
      // A by() that makes nothing filters the traverser.
      if (value === undefined) return [];
      return [traverser.with({ sack: apply(traverser.sack ?? null, value) })];
    });
  });
}

/** Variables are labels, and `_` is the present value; by() modulators take turns over the variables. */
function mathStep({ args: [text], modulators }: Clause, compiler: Compiler): Step {
  if (typeof text !== 'string') throw compileError('math() needs a text.');
  const { variables, calculate } = compileExpression(text);
  const bys = bysOf(modulators, compiler);
  const byAt = (at: number): By => (bys.length === 0 ? IDENTITY : (bys[at % bys.length] as By));
  return batchStep(async (batch, frame) => {
    const columns: (GremlinValue | undefined)[][] = [];
    for (const [at, name] of variables.entries()) {
      const inputs = batch.map((traverser) =>
        variable(traverser, name, selected(traverser, name, frame)),
      );
      columns.push(await resolveBy(byAt(at), inputs, frame));
    }
    return batch.flatMap((traverser, row) => {
      const values = columns.map((column) => column[row]);
      if (values.some((value) => value === undefined || value === null)) return [];
      const numbers = values.map((value) => {
        if (!isNumber(value)) throw runtimeError('math() can only be used on numbers.');
        return toDouble(value);
      });
      return [traverser.to(numberOf('double', calculate(numbers)))];
    });
  });
}

function variable(traverser: Traverser, name: string, found: GremlinValue | undefined): Traverser {
  if (name === '_') return traverser;
  if (found === undefined)
    throw runtimeError(`Neither the sideEffects, map, nor path has a ${name}-key.`);
  return traverser.with({ value: found });
}
