/** Which fields of a document an expression reads, found without compiling it. */
import { type Bson, isArray, isDocument } from '../../../../value/index.ts';

/** Operators that may read a field which no path names, or the whole document. */
const UNKNOWN: ReadonlySet<string> = new Set(['$getField', '$setField', '$unsetField', '$meta']);

/** Undefined where all may be read. Fields that are not read may be among the result. */
export function fieldsRead(sent: Bson): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  return collect(sent, names) ? names : undefined;
}

function collect(sent: Bson, names: Set<string>): boolean {
  if (typeof sent === 'string') return collectText(sent, names);
  if (isArray(sent)) return sent.every((each) => collect(each, names));
  if (!isDocument(sent)) return true;
  for (const [name, value] of sent) {
    if (UNKNOWN.has(name)) return false;
    // The order of `$top` and its kind is by fields of the document.
    if (name === 'sortBy' && isDocument(value))
      for (const field of value.keys()) names.add(first(field));
    if (!collect(value, names)) return false;
  }
  return true;
}

function collectText(text: string, names: Set<string>): boolean {
  if (!text.startsWith('$')) return true;
  if (!text.startsWith('$$')) names.add(first(text.slice(1)));
  return !/^\$\$(ROOT|CURRENT)(\.|$)/.test(text);
}

function first(path: string): string {
  return path.split('.', 1)[0] as string;
}
