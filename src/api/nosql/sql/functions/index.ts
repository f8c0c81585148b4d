/** All system functions, by name without regard to case. Aggregates are not among them: see ../run/aggregates.ts. */
import type { TextLanguage } from '../../../../search/index.ts';
import { arrayFunctions } from './array.ts';
import { clockFunctions, dateTimeFunctions } from './date-time.ts';
import { fullTextFunctions } from './full-text.ts';
import type { FunctionEnvironment, SystemFunction } from './function.ts';
import { integerFunctions } from './integer.ts';
import { internalFunctions } from './internal.ts';
import { itemFunctions } from './item.ts';
import { mathFunctions, randomFunctions } from './math.ts';
import { regexFunctions } from './regex.ts';
import { spatialFunctions } from './spatial.ts';
import { stringFunctions } from './string.ts';
import { typeCheckFunctions } from './type-check.ts';

export { staticClockFunctions } from './date-time.ts';
export type { DistanceFunction, FunctionEnvironment, SystemFunction } from './function.ts';

type Table = ReadonlyMap<string, SystemFunction>;

function tableOf(...groups: readonly (readonly SystemFunction[])[]): Table {
  return new Map(groups.flat().map((entry) => [entry.name.toLowerCase(), entry]));
}

const PURE: Table = tableOf(
  mathFunctions,
  integerFunctions,
  stringFunctions,
  arrayFunctions,
  dateTimeFunctions,
  typeCheckFunctions,
  itemFunctions,
  fullTextFunctions('en'),
  internalFunctions,
);

const TEXT = new Map<TextLanguage, Table>();

/** The full text function of that name for texts of a language; undefined for other functions. */
export function findTextFunction(name: string, language: TextLanguage): SystemFunction | undefined {
  let table = TEXT.get(language);
  if (table === undefined) {
    table = tableOf(fullTextFunctions(language));
    TEXT.set(language, table);
  }
  return table.get(name.toLowerCase());
}

const SPATIAL = {
  geography: tableOf(spatialFunctions('geography')),
  geometry: tableOf(spatialFunctions('geometry')),
} as const;

/** All functions that `findFunction` finds. */
export function allFunctions(environment: FunctionEnvironment): readonly SystemFunction[] {
  return [
    ...PURE.values(),
    ...SPATIAL[environment.geospatial].values(),
    ...clockFunctions(environment.clock),
    ...randomFunctions(environment.random),
    ...regexFunctions(),
  ];
}

/** The function of that name, whatever its case, or undefined. */
export function findFunction(
  name: string,
  environment: FunctionEnvironment,
): SystemFunction | undefined {
  const key = name.toLowerCase();
  const pure = PURE.get(key) ?? SPATIAL[environment.geospatial].get(key);
  if (pure) return pure;
  return tableOf(
    clockFunctions(environment.clock),
    randomFunctions(environment.random),
    regexFunctions(),
  ).get(key);
}
