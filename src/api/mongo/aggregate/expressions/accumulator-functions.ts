/** Accumulators as expressions: over their operands, or over the one array that they are given. */
import { type Bson, isArray } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { newBest, newBestN, newEnds } from '../accumulators/lists.ts';
import { type Accumulator, newAverage, newDeviation, newSum } from '../accumulators/numbers.ts';
import { inputAndN, numberOfValues } from '../accumulators/parse.ts';
import { newPercentiles, parsePercentileOptions } from '../accumulators/percentile.ts';
import {
  type CompileOperator,
  folded,
  isNullish,
  type OperatorTable,
  operands,
  typeName,
} from './define.ts';
import type { Scope } from './scope.ts';

export const ACCUMULATOR_EXPRESSIONS: OperatorTable = {
  $avg: over(() => newAverage(false)),
  $firstN: ofArray((n) => newEnds(n, false)),
  $lastN: ofArray((n) => newEnds(n, true)),
  $max: over((scope) => newBest(1, scope.context.compare)),
  $maxN: ofArray((n, scope) => newBestN(n, 1, scope.context.compare)),
  $median: percentile,
  $min: over((scope) => newBest(-1, scope.context.compare)),
  $minN: ofArray((n, scope) => newBestN(n, -1, scope.context.compare)),
  $percentile: percentile,
  $stdDevPop: over(() => newDeviation(false)),
  $stdDevSamp: over(() => newDeviation(true)),
  $sum: over(newSum),
};

function over(start: (scope: Scope) => Accumulator): CompileOperator {
  return (argument, scope) => {
    const parts = operands(argument).map((sent) => scope.compile(sent));
    const [only] = parts;
    return folded((frame) => {
      const accumulator = start(scope);
      const single = parts.length === 1 ? only?.(frame) : undefined;
      if (isArray(single)) for (const value of single) accumulator.add(value);
      else if (parts.length === 1) accumulator.add(single);
      else for (const part of parts) accumulator.add(part(frame));
      return accumulator.result();
    }, parts);
  };
}

function ofArray(start: (n: number, scope: Scope) => Accumulator): CompileOperator {
  return (argument, scope, name) => {
    const { input, n } = inputAndN(argument, scope, name);
    return folded(
      (frame) => {
        const list = input(frame);
        const count = numberOfValues(n(frame), name);
        if (!isArray(list))
          throw new MongoError(
            'Location5788200',
            `Input must be an array for ${name}, found ${typeName(list)}`,
          );
        const accumulator = start(count, scope);
        for (const value of list) accumulator.add(value);
        return accumulator.result();
      },
      [input, n],
    );
  };
}

function percentile(argument: Bson, scope: Scope, name: string): ReturnType<CompileOperator> {
  const options = parsePercentileOptions(argument, scope, name);
  return folded(
    (frame) => {
      const input = options.input(frame);
      const accumulator = newPercentiles(options);
      if (isArray(input)) for (const value of input) accumulator.add(value);
      else if (!isNullish(input)) accumulator.add(input);
      return accumulator.result();
    },
    [options.input],
  );
}
