/** Type checks: total functions that return false for undefined. */
import { isList, isMap, type Value } from '../../../../value/index.ts';
import { defineTotal, type SystemFunction } from './function.ts';
import { parseInstant } from './instant.ts';

function check(name: string, test: (value: Value) => boolean): SystemFunction {
  return defineTotal(name, 1, test);
}

export const typeCheckFunctions: readonly SystemFunction[] = [
  check('IS_ARRAY', isList),
  check('IS_BOOL', (value) => typeof value === 'boolean'),
  // The Java and .NET clients use this name for IS_BOOL where they resume an ordered query.
  check('IS_BOOLEAN', (value) => typeof value === 'boolean'),
  check('IS_DATETIME', (value) => typeof value === 'string' && parseInstant(value) !== undefined),
  check('IS_DEFINED', (value) => value !== undefined),
  check('IS_FINITE_NUMBER', (value) => Number.isFinite(value)),
  check(
    'IS_INTEGER',
    (value) => typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 63,
  ),
  check('IS_NULL', (value) => value === null),
  check('IS_NUMBER', (value) => typeof value === 'number'),
  check('IS_OBJECT', isMap),
  check(
    'IS_PRIMITIVE',
    (value) => value === null || ['boolean', 'number', 'string'].includes(typeof value),
  ),
  check('IS_STRING', (value) => typeof value === 'string'),
];
