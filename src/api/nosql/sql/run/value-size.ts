/** Sizes and depths of values, checked before they are printed, kept or walked recursively. */
import { DomainError, draw, spend } from '../../../../base/index.ts';
import {
  isList,
  printedLeafSize,
  printedSize,
  type Value,
  type ValueMap,
} from '../../../../value/index.ts';

/** Draws the bytes of the JSON text of a value from the budget, part by part, before it is printed. */
export function drawPrinted(value: Value): void {
  draw(printedLeafSize(value));
  if (typeof value !== 'object' || value === null) return;
  if (isList(value)) for (const element of value) drawPrinted(element);
  else
    for (const name of Object.keys(value)) {
      draw(name.length + 4);
      drawPrinted((value as ValueMap)[name]);
    }
}

/** The approximate bytes of a value in memory; parts shared with other values count fully. */
export function keptSize(value: Value): number {
  const size = printedSize(value, KEPT_VALUE_MAX);
  spend(size >> 3);
  return 64 + 2 * size;
}

/** Larger values are not measured to their end. */
const KEPT_VALUE_MAX = 512 * 1024;

/** Throws `invalidInput` for a value that is nested more deeply than items are. */
export function checkDepth(value: Value, depthMax: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depthMax === 0)
    throw new DomainError('invalidInput', 'The query has a value that is nested too deeply.');
  spend(2);
  if (isList(value)) for (const element of value) checkDepth(element, depthMax - 1);
  else for (const name in value) checkDepth((value as ValueMap)[name], depthMax - 1);
}
