/** `CanonicalJson.read` (canonical-json.ts) for a long text: in steps, and for objects with any number of names. */
import { NESTING_MAX, type Steps } from '../../base/index.ts';
import { type CanonicalJson, endOfCanonicalValue, endOfPrintedName } from './canonical-json.ts';
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './json-bytes.ts';

/** Values between two yields. */
const STEP_VALUES = 64;

/** The end of the object at the start of the text, or -1. Its properties are recorded. The text must be valid UTF-8. */
export function* readCanonicalObject(text: Buffer, into: CanonicalJson): Steps<number> {
  into.begin(text);
  if (text[0] !== OPENING_BRACE) return -1;
  if (text[1] === CLOSING_BRACE) return 2;
  /** The names of each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = [];
  let [name, nameEnd, value, at] = [0, 0, 0, 0];
  for (let values = 0; ; values++) {
    if (values % STEP_VALUES === 0) yield;
    const isObject = text[at] === OPENING_BRACE;
    const isNested = isObject || text[at] === OPENING_BRACKET;
    if (isNested && open.length >= NESTING_MAX) return -1;
    if (isNested && text[at + 1] !== (isObject ? CLOSING_BRACE : CLOSING_BRACKET)) {
      open.push(isObject ? new Set() : undefined);
      at++;
    } else {
      at = isNested ? at + 2 : endOfCanonicalValue(text, at);
      if (at < 0) return -1;
      if (open.length === 1) into.note(name, nameEnd, value, at);
      while (text[at] === (open.at(-1) === undefined ? CLOSING_BRACKET : CLOSING_BRACE)) {
        at++;
        open.pop();
        if (open.length === 0) return at;
        if (open.length === 1) into.note(name, nameEnd, value, at);
      }
      if (text[at++] !== COMMA) return -1;
    }
    const names = open.at(-1);
    if (names === undefined) continue;
    const end = text[at] === QUOTE ? endOfPrintedName(text, at + 1) : -1;
    if (end < 0 || text[end + 1] !== COLON) return -1;
    const { size } = names;
    if (names.add(text.toString('latin1', at + 1, end)).size === size) return -1;
    if (open.length === 1) [name, nameEnd, value] = [at + 1, end, end + 2];
    at = end + 2;
  }
}
