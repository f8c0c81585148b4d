/** The terms of an item: one per indexed value; for arrays and objects only their kind. */
import { Extended, encodeTuple, isList, KeyWriter, type Value } from '../../../value/index.ts';
import type { Rid } from '../../item/item.ts';
import {
  ANY_ARRAY,
  ANY_OBJECT,
  isCacheable,
  type PostingList,
  type PostingLists,
  type TermValue,
} from '../memory/posting-lists.ts';
import type { PathNode } from './index-paths.ts';

export const PREFIX_TERM = 0x20;

/** The keys of any array and any object: the index has only their kind. */
export const ARRAY_KEY = encodeTuple([[]]);
export const OBJECT_KEY = encodeTuple([{}]);

const writer = new KeyWriter(1024);

/** Adds the entries of the values at a path and below. */
export function addTerms(value: Value, node: PathNode, rid: Rid, entries: string[]): void {
  if (value === undefined || !node.isOpen) return;
  if (typeof value === 'object' && value !== null && !(value instanceof Extended)) {
    const isArray = isList(value);
    if (node.isIndexed)
      entries.push(
        writer
          .reset()
          .u8(PREFIX_TERM)
          .raw(node.number)
          .raw(isArray ? ARRAY_KEY : OBJECT_KEY)
          .u64(rid)
          .takeText(),
      );
    if (isArray) {
      const elements = node.elementNode();
      for (const element of value) addTerms(element, elements, rid, entries);
    } else {
      for (const name in value)
        if (Object.hasOwn(value, name)) addTerms(value[name], node.child(name), rid, entries);
    }
  } else if (node.isIndexed) {
    entries.push(writer.reset().u8(PREFIX_TERM).raw(node.number).value(value).u64(rid).takeText());
  }
}

interface TermCollector {
  readonly owner: PostingLists;
  readonly root: PathNode;
  readonly found: PostingList[];
  /** Gets the values of paths with high cardinality; undefined where they get posting lists too. */
  readonly termPrefixes: string[] | undefined;
}

/** Same as `addTerms`, with posting lists: a repeated value needs no key. */
export function findTerms(value: Value, node: PathNode, into: TermCollector): void {
  if (value === undefined || !node.isOpen) return;
  if (typeof value !== 'object' || value === null || value instanceof Extended) {
    if (!node.isIndexed) return;
    if (into.termPrefixes !== undefined && node.cardinality.isHigh)
      into.termPrefixes.push(termPrefixOf(node, value));
    else into.found.push(termPosting(into, node, value));
  } else if (isList(value)) {
    if (node.isIndexed) into.found.push(termPosting(into, node, ANY_ARRAY));
    const elements = node.elementNode();
    for (let at = 0; at < value.length; at++) findTerms(value[at], elements, into);
  } else {
    if (node.isIndexed) into.found.push(termPosting(into, node, ANY_OBJECT));
    for (const name in value)
      if (Object.hasOwn(value, name)) findTerms(value[name], node.child(name), into);
  }
}

export function termPosting(
  { owner, root }: Pick<TermCollector, 'owner' | 'root'>,
  node: PathNode,
  value: TermValue,
): PostingList {
  const lists = owner.valueLists(root, node.id);
  const found = lists.get(value);
  node.cardinality.note(found !== undefined);
  if (found !== undefined) return found;
  const list = owner.of(termPrefixOf(node, value));
  if (typeof value === 'symbol' || isCacheable(value)) lists.set(value, list);
  return list;
}

export function termPrefixOf(node: PathNode, value: TermValue): string {
  writer.reset().u8(PREFIX_TERM).raw(node.number);
  if (value === ANY_ARRAY) writer.raw(ARRAY_KEY);
  else if (value === ANY_OBJECT) writer.raw(OBJECT_KEY);
  else writer.value(value);
  return writer.takeText();
}
