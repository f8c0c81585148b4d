/** The terms of a wide item from its stored JSON text, in steps and without a call per level: see index-text-terms.ts. */
import type { Steps } from '../../base/index.ts';
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  printedValue,
  QUOTE,
} from '../../value/index.ts';
import type { PathNode } from './index-paths.ts';
import { termPrefixOf } from './index-terms.ts';
import { endOfStored, endOfStoredText } from './index-text-terms.ts';
import { ANY_ARRAY, ANY_OBJECT } from './posting-lists.ts';
import type { FoundTermPrefixes } from './wide-terms.ts';

/** Values between two looks at the clock. */
const STEP_VALUES = 32;

/** An array or object whose end is not reached. */
interface Open {
  readonly node: PathNode;
  /** Of the elements of an array; undefined: an object. */
  readonly each: PathNode | undefined;
}

/** False where the text is an unusual one, of which only a part is found. `skipped`: names at the root that are left out. */
export function* walkText(
  text: Buffer,
  root: PathNode,
  skipped: ReadonlySet<string>,
  into: FoundTermPrefixes,
): Steps<boolean> {
  const open: Open[] = [];
  let node: PathNode | undefined = root;
  let at = 0;
  for (let values = 0; ; values++) {
    if (values % STEP_VALUES === 0) yield;
    const isEntered = enters(text, at, node);
    at = isEntered ? at + 1 : endOfTerm(text, at, node, into);
    if (isEntered) {
      open.push(opened(text[at - 1] === OPENING_BRACKET, node as PathNode, into));
    } else {
      if (at < 0) return false;
      while (open.length > 0 && text[at] === closingOf(open.at(-1) as Open)) {
        at++;
        open.pop();
      }
      if (open.length === 0) return at === text.length;
      if (text[at++] !== COMMA) return false;
    }
    const { node: owner, each } = open.at(-1) as Open;
    node = each;
    if (each !== undefined) continue;
    const colon = text[at] === QUOTE ? endOfStoredText(text, at) : -1;
    if (text[colon] !== COLON) return false;
    const name = printedValue(text, at, colon) as string;
    node = open.length === 1 && skipped.has(name) ? undefined : owner.passingChild(name);
    at = colon + 1;
  }
}

/** Whether a value has others in it that matter. */
function enters(text: Buffer, at: number, node: PathNode | undefined): boolean {
  if (node === undefined || !node.isOpen) return false;
  if (text[at] === OPENING_BRACE) return text[at + 1] !== CLOSING_BRACE;
  return text[at] === OPENING_BRACKET && text[at + 1] !== CLOSING_BRACKET;
}

function opened(isArray: boolean, node: PathNode, into: FoundTermPrefixes): Open {
  if (node.isIndexed) into.add(termPrefixOf(node, isArray ? ANY_ARRAY : ANY_OBJECT));
  return { node, each: isArray ? node.each() : undefined };
}

function closingOf({ each }: Open): number {
  return each === undefined ? CLOSING_BRACE : CLOSING_BRACKET;
}

/** Notes a value that is not entered; answers where it ends, or -1. */
function endOfTerm(
  text: Buffer,
  at: number,
  node: PathNode | undefined,
  into: FoundTermPrefixes,
): number {
  const end = endOfStored(text, at);
  if (end < 0 || node === undefined || !node.isOpen || !node.isIndexed) return end;
  if (text[at] === OPENING_BRACE) into.add(termPrefixOf(node, ANY_OBJECT));
  else if (text[at] === OPENING_BRACKET) into.add(termPrefixOf(node, ANY_ARRAY));
  else into.add(termPrefixOf(node, printedValue(text, at, end)));
  return end;
}
