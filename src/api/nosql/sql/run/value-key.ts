/** Keys for hash tables: equal values have the same key in a Map or Set, different values different keys. */
import { draw } from '../../../../base/index.ts';
import {
  canonicalNumberText,
  isList,
  isMap,
  isNumeric,
  locateNumber,
  type Value,
} from '../../../../value/index.ts';

export type ValueKey = undefined | null | boolean | number | string;

export function valueKey(value: Value): ValueKey {
  if (typeof value === 'string') {
    draw(value.length);
    return `"${value}`;
  }
  return typeof value === 'object' && value !== null ? compositeKey(value) : value;
}

/** JSON with the properties of objects in one order; an undefined property is an absent one. */
function compositeKey(value: Value): string | number {
  draw(32);
  if (isList(value)) return `[${value.map(elementKey).join()}]`;
  if (isMap(value)) {
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    draw(32 * names.length);
    return `{${names
      .sort()
      .map((name) => `${JSON.stringify(name)}:${elementKey(value[name])}`)
      .join()}}`;
  }
  if (!isNumeric(value)) return `x${JSON.stringify(value)}`;
  const { floor, exact } = locateNumber(value);
  return exact === undefined ? floor : `n${canonicalNumberText(value)}`;
}

function elementKey(value: Value): string | number {
  if (typeof value === 'object' && value !== null) return compositeKey(value);
  draw(typeof value === 'string' ? value.length + 8 : 8);
  return JSON.stringify(value) ?? 'undefined';
}
