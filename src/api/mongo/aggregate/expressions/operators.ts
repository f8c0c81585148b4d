/** All operators of expressions, from the tables of their families. */
import { ACCUMULATOR_EXPRESSIONS } from './accumulator-functions.ts';
import { ARITHMETIC } from './arithmetic.ts';
import { ARRAYS } from './arrays.ts';
import { DATES } from './date-functions.ts';
import type { CompileOperator, OperatorTable } from './define.ts';
import { ITERATION } from './iteration.ts';
import { LOGIC } from './logic.ts';
import { MISC } from './misc.ts';
import { OBJECTS } from './objects.ts';
import { REGEX } from './regex-functions.ts';
import { constant } from './scope.ts';
import { SCRIPTS } from './scripts.ts';
import { SETS } from './sets.ts';
import { STRINGS } from './strings.ts';
import { TRIGONOMETRY } from './trigonometry.ts';
import { TYPES } from './types.ts';

const BASIC: OperatorTable = {
  $literal: (argument) => constant(argument),
  $const: (argument) => constant(argument),
};

const TABLES: readonly OperatorTable[] = [
  BASIC,
  ACCUMULATOR_EXPRESSIONS,
  ARITHMETIC,
  ARRAYS,
  DATES,
  ITERATION,
  LOGIC,
  MISC,
  OBJECTS,
  REGEX,
  SCRIPTS,
  SETS,
  STRINGS,
  TRIGONOMETRY,
  TYPES,
];

export const OPERATORS: ReadonlyMap<string, CompileOperator> = new Map(
  TABLES.flatMap((table) => Object.entries(table)),
);
