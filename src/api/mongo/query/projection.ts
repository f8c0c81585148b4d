/**
 * Projections applied: the fields that a reply keeps, leaves out or computes. Arrays on the way stand for their
 * documents. An inclusion keeps the order of the document; computed fields come behind, in the order of the projection.
 */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import type { Expression } from '../aggregate/index.ts';
import { MongoError } from '../errors.ts';
import type { DocumentTest } from './filter-test.ts';

/** Undefined as a value of a computed field: it is left out. */
export type Project = (document: BsonDocument) => BsonDocument;

/** A tree of names; a leaf says what becomes of the field. */
export type ProjectionNode = Map<string, ProjectionNode | ProjectionLeaf>;
export type ProjectionLeaf =
  | { readonly kind: 'include' | 'exclude' }
  | { readonly kind: 'slice'; readonly skip: number; readonly limit: number }
  | { readonly kind: 'elemMatch'; readonly test: DocumentTest }
  | { readonly kind: 'computed'; readonly evaluate: Expression };

interface ParsedProjection {
  readonly root: ProjectionNode;
  readonly isInclusion: boolean;
  readonly positional: Positional | undefined;
}

/** `a.b.$`: the element by which the document matched. */
export interface Positional {
  readonly path: readonly string[];
  indexIn(document: BsonDocument): number | undefined;
}

export function applyProjection({ root, isInclusion, positional }: ParsedProjection): Project {
  const apply = isInclusion ? include : exclude;
  if (positional === undefined) return (document) => apply(document, root, document);
  return (document) => {
    const narrowed = narrow(document, positional, 0, positional.indexIn(document));
    return apply(narrowed as BsonDocument, root, document);
  };
}

/** The document with the one element in place of the first array of the path. */
function narrow(value: Bson, positional: Positional, at: number, index: number | undefined): Bson {
  const { path } = positional;
  if (isArray(value)) {
    if (index === undefined)
      throw new MongoError(
        'Location51246',
        "Executor error during find command :: caused by :: positional operator '.$' couldn't find a matching element in the array",
      );
    if (index >= value.length)
      throw new MongoError(
        'Location51247',
        "Executor error during find command :: caused by :: positional operator '.$' element mismatch",
      );
    return [value[index] as Bson];
  }
  if (!isDocument(value) || at === path.length) return value;
  const step = path[at] as string;
  const inner = value.get(step);
  if (inner === undefined) return value;
  const copy = new Map(value);
  return copy.set(step, narrow(inner, positional, at + 1, index));
}

function include(document: BsonDocument, node: ProjectionNode, root: BsonDocument): BsonDocument {
  const kept = new Map<string, Bson>();
  for (const [name, value] of document) {
    const child = node.get(name);
    if (child === undefined) continue;
    const projected =
      child instanceof Map ? nested(value, child, root, true) : ofLeaf(value, child);
    if (projected !== undefined) kept.set(name, projected);
  }
  for (const [name, child] of node) {
    if (child instanceof Map) {
      if (!document.has(name)) addMissing(kept, name, child, root);
    } else if (child.kind === 'computed') {
      const value = child.evaluate(root);
      if (value === undefined) kept.delete(name);
      else kept.set(name, value);
    } else if (child.kind === 'elemMatch') {
      const value = elementOf(document.get(name), child.test);
      if (value !== undefined) kept.set(name, value);
    }
  }
  return kept;
}

/** Computed fields within a document that is not there yet. */
function addMissing(
  kept: Map<string, Bson>,
  name: string,
  node: ProjectionNode,
  root: BsonDocument,
): void {
  if (!computes(node)) return;
  kept.set(name, include(new Map(), node, root));
}

function computes(node: ProjectionNode): boolean {
  for (const child of node.values())
    if (child instanceof Map ? computes(child) : child.kind === 'computed') return true;
  return false;
}

function exclude(document: BsonDocument, node: ProjectionNode, root: BsonDocument): BsonDocument {
  const kept = new Map<string, Bson>();
  for (const [name, value] of document) {
    const child = node.get(name);
    const projected =
      child === undefined
        ? value
        : child instanceof Map
          ? nested(value, child, root, false)
          : child.kind === 'elemMatch'
            ? elementOf(value, child.test)
            : ofLeaf(value, child);
    if (projected !== undefined) kept.set(name, projected);
  }
  for (const [name, child] of node) {
    if (child instanceof Map || child.kind !== 'computed') continue;
    const value = child.evaluate(root);
    if (value !== undefined) kept.set(name, value);
  }
  return kept;
}

function nested(
  value: Bson,
  node: ProjectionNode,
  root: BsonDocument,
  isInclusion: boolean,
): Bson | undefined {
  if (isDocument(value))
    return isInclusion ? include(value, node, root) : exclude(value, node, root);
  if (isArray(value)) {
    const kept = value.map((element) => nested(element, node, root, isInclusion));
    return kept.filter((element) => element !== undefined);
  }
  if (!isInclusion) return value;
  return computes(node) ? include(new Map(), node, root) : undefined;
}

function ofLeaf(value: Bson, leaf: ProjectionLeaf): Bson | undefined {
  switch (leaf.kind) {
    case 'include':
      return value;
    case 'slice': {
      if (!isArray(value)) return value;
      const from = leaf.skip < 0 ? Math.max(0, value.length + leaf.skip) : leaf.skip;
      return value.slice(from, from + leaf.limit);
    }
    default:
      return undefined;
  }
}

function elementOf(value: Bson | undefined, test: DocumentTest): Bson | undefined {
  if (!isArray(value)) return undefined;
  const found = value.find((element) => test(new Map([['v', [element]]])));
  return found === undefined ? undefined : [found];
}
