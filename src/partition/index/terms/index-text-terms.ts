/** The terms of an item (index-terms.ts) from its stored JSON text, without decoding it. */
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  canonicalValue,
  endOfCanonicalValue,
  endOfText,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from '../../../value/index.ts';
import type { Rid } from '../../item/item.ts';
import { ANY_ARRAY, ANY_OBJECT, type PostingLists } from '../memory/posting-lists.ts';
import type { PathNode } from './index-paths.ts';
import { termPosting, termPrefixOf } from './index-terms.ts';

/** Bytes of a text that are read one by one, before its end is searched natively. */
const LONG_BYTES = 48;

interface TextTerms {
  readonly owner: PostingLists;
  readonly root: PathNode;
  readonly rid: Rid;
  /** Whether the item never had entries. */
  readonly isNew: boolean;
  /** Number of entries so far. */
  count: number;
}

/** Adds the entries of the item; false where its text is not canonical, and then only some are added. */
export function noteTextTerms(text: Buffer, into: TextTerms): boolean {
  return note(text, 0, into.root, into) === text.length;
}

/** Returns where the value ends, or -1. */
function note(text: Buffer, start: number, node: PathNode, into: TextTerms): number {
  if (!node.isOpen) return endOfStored(text, start);
  if (text[start] === OPENING_BRACE) return noteObject(text, start, node, into);
  if (text[start] === OPENING_BRACKET) return noteArray(text, start, node, into);
  return node.isIndexed ? noteTerm(text, start, node, into) : endOfStored(text, start);
}

function noteArray(text: Buffer, start: number, node: PathNode, into: TextTerms): number {
  if (node.isIndexed) noteKind(ANY_ARRAY, node, into);
  if (text[start + 1] === CLOSING_BRACKET) return start + 2;
  const elements = node.elementNode();
  for (let at = start + 1; ; at++) {
    at = note(text, at, elements, into);
    if (at < 0) return -1;
    if (text[at] === CLOSING_BRACKET) return at + 1;
    if (text[at] !== COMMA) return -1;
  }
}

function noteObject(text: Buffer, start: number, node: PathNode, into: TextTerms): number {
  if (node.isIndexed) noteKind(ANY_OBJECT, node, into);
  if (text[start + 1] === CLOSING_BRACE) return start + 2;
  let child: PathNode | undefined;
  for (let at = start + 1; ; at++) {
    const before: PathNode | undefined = child;
    child = node.expectedChild(text, at, before);
    let colon: number;
    if (child === undefined) {
      colon = text[at] === QUOTE ? endOfStoredText(text, at) : -1;
      if (colon < 0) return -1;
      child = node.childAfter(before, canonicalValue(text, at, colon) as string);
    } else colon = at + child.printed.length;
    if (text[colon] !== COLON) return -1;
    at = note(text, colon + 1, child, into);
    if (at < 0) return -1;
    if (text[at] === CLOSING_BRACE) return at + 1;
    if (text[at] !== COMMA) return -1;
  }
}

export function endOfStored(text: Buffer, start: number): number {
  return text[start] === QUOTE ? endOfStoredText(text, start) : endOfCanonicalValue(text, start);
}

/** Same as `endOfText`, for a text that is complete. */
export function endOfStoredText(text: Buffer, start: number): number {
  const near = Math.min(text.length, start + LONG_BYTES);
  for (let at = start + 1; at < near; at++) {
    const byte = text[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) return endOfText(text, start);
  }
  const end = text.indexOf(QUOTE, near);
  return text[end - 1] === BACKSLASH ? endOfText(text, start) : end + 1;
}

function noteKind(
  kind: typeof ANY_ARRAY | typeof ANY_OBJECT,
  node: PathNode,
  into: TextTerms,
): void {
  into.count++;
  termPosting(into, node, kind).add(into.rid);
}

function noteTerm(text: Buffer, start: number, node: PathNode, into: TextTerms): number {
  const { owner, rid } = into;
  into.count++;
  if (into.isNew && node.cardinality.isHigh) {
    const end = endOfStored(text, start);
    if (end >= 0) owner.addUnique(termPrefixOf(node, canonicalValue(text, start, end)), rid);
    return end;
  }
  const end = endOfStored(text, start);
  if (end < 0) return -1;
  let list = owner.texts.find(node, text, start, end);
  if (list === undefined) {
    list = termPosting(into, node, canonicalValue(text, start, end));
    owner.texts.add(node, text, start, end, list);
  } else node.cardinality.note(true);
  list.add(rid);
  return end;
}
