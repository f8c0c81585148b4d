/** Finds the terms of a wide item in its stored JSON text, in steps and without recursion; see index-text-terms.ts. */
import type { Steps } from '../../../base/index.ts';
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  canonicalValue,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from '../../../value/index.ts';
import { ANY_ARRAY, ANY_OBJECT } from '../memory/posting-lists.ts';
import type { PathNode } from './index-paths.ts';
import { termPrefixOf } from './index-terms.ts';
import { endOfStored, endOfStoredText } from './index-text-terms.ts';
import type { FoundTermPrefixes } from './wide-terms.ts';

/** Values between two reads of the clock. */
const STEP_VALUES = 32;

/** An array or object whose end is not reached. */
interface Open {
  readonly node: PathNode;
  /** The path of the elements of an array; undefined: an object. */
  readonly elements: PathNode | undefined;
}

/**
 * False where the text is not canonical, and then only some terms are found. `skipped`: names at the root to leave out.
 */
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
    const { node: owner, elements } = open.at(-1) as Open;
    node = elements;
    if (elements !== undefined) continue;
    const colon = text[at] === QUOTE ? endOfStoredText(text, at) : -1;
    if (text[colon] !== COLON) return false;
    const name = canonicalValue(text, at, colon) as string;
    node = open.length === 1 && skipped.has(name) ? undefined : owner.temporaryChild(name);
    at = colon + 1;
  }
}

/** Whether a value contains others that may be indexed. */
function enters(text: Buffer, at: number, node: PathNode | undefined): boolean {
  if (node === undefined || !node.isOpen) return false;
  if (text[at] === OPENING_BRACE) return text[at + 1] !== CLOSING_BRACE;
  return text[at] === OPENING_BRACKET && text[at + 1] !== CLOSING_BRACKET;
}

function opened(isArray: boolean, node: PathNode, into: FoundTermPrefixes): Open {
  if (node.isIndexed) into.add(termPrefixOf(node, isArray ? ANY_ARRAY : ANY_OBJECT));
  return { node, elements: isArray ? node.elementNode() : undefined };
}

function closingOf({ elements }: Open): number {
  return elements === undefined ? CLOSING_BRACE : CLOSING_BRACKET;
}

/** Adds the term of a value that is not entered; returns where it ends, or -1. */
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
  else into.add(termPrefixOf(node, canonicalValue(text, at, end)));
  return end;
}
