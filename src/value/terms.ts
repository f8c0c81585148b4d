/** Taking a value apart into terms: what an index holds of it. */
import { EACH, type Path } from './path.ts';
import { isList, isMap, type Value } from './value.ts';

/**
 * Calls `visit` for every leaf: scalars, and arrays and objects that are empty (they are values too). Elements
 * of an array lie under an EACH step; an undefined property or element has no term. Equal terms may come
 * more than once. The path is lent for the call only; copy it to keep it.
 */
export function walkTerms(value: Value, visit: (path: Path, leaf: Value) => void): void {
  walk(value, [], visit);
}

function walk(
  value: Value,
  path: (string | typeof EACH)[],
  visit: (path: Path, leaf: Value) => void,
): void {
  if (value === undefined) return;
  if (isList(value) && value.length > 0) {
    path.push(EACH);
    for (const element of value) walk(element, path, visit);
    path.pop();
    return;
  }
  if (isMap(value)) {
    const names = Object.keys(value);
    for (const name of names) {
      path.push(name);
      walk(value[name], path, visit);
      path.pop();
    }
    if (names.length > 0) return;
  }
  visit(path, value);
}
