/**
 * Trees of fields that `$project`, `$addFields` and their kind work with. A leaf includes, excludes or computes a
 * field; arrays on the way stand for their documents.
 */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { MongoError } from '../../errors.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { Evaluate, Frame } from '../expressions/scope.ts';

export type Leaf =
  | { readonly kind: 'include' }
  | { readonly kind: 'exclude' }
  | { readonly kind: 'compute'; readonly evaluate: Evaluate };

type Child = FieldTree | Leaf;

export class FieldTree {
  readonly children = new Map<string, Child>();
  /** True where a leaf below computes. */
  computes = false;

  /** Adds a leaf; `refuse` makes the error for a path that meets another. */
  add(
    path: string,
    leaf: Leaf,
    refuse: (path: string, isParentAfterChild: boolean) => MongoError,
  ): void {
    const steps = parseFieldPath(path);
    let node: FieldTree = this;
    for (const [at, step] of steps.entries()) {
      if (leaf.kind === 'compute') node.computes = true;
      const child = node.children.get(step);
      if (at === steps.length - 1) {
        if (child !== undefined) throw refuse(path, child instanceof FieldTree);
        node.children.set(step, leaf);
      } else if (child === undefined) {
        const next = new FieldTree();
        node.children.set(step, next);
        node = next;
      } else if (child instanceof FieldTree) node = child;
      else throw refuse(path, false);
    }
  }
}

/** The fields that the tree includes, then those that it computes. */
export function included(document: BsonDocument, tree: FieldTree, frame: Frame): BsonDocument {
  const kept = includedOnly(document, tree);
  if (tree.computes) compute(kept, tree, frame);
  return kept;
}

function includedOnly(document: BsonDocument, tree: FieldTree): Map<string, Bson> {
  const kept = new Map<string, Bson>();
  for (const [name, value] of document) {
    const child = tree.children.get(name);
    if (child === undefined) continue;
    if (child instanceof FieldTree) {
      const inner = includedWithin(value, child);
      if (inner !== undefined) kept.set(name, inner);
    } else if (child.kind === 'include') kept.set(name, value);
  }
  return kept;
}

function includedWithin(value: Bson, tree: FieldTree): Bson | undefined {
  if (isDocument(value)) return includedOnly(value, tree);
  // Where a field is computed, whatever is there becomes a document.
  if (!isArray(value)) return tree.computes ? value : undefined;
  const kept: Bson[] = [];
  for (const element of value) {
    const inner = includedWithin(element, tree);
    if (inner !== undefined) kept.push(inner);
  }
  return kept;
}

export function excluded(document: BsonDocument, tree: FieldTree): Map<string, Bson> {
  const kept = new Map<string, Bson>();
  for (const [name, value] of document) {
    const child = tree.children.get(name);
    if (child === undefined) kept.set(name, value);
    else if (child instanceof FieldTree) kept.set(name, excludedWithin(value, child));
  }
  return kept;
}

function excludedWithin(value: Bson, tree: FieldTree): Bson {
  if (isDocument(value)) return excluded(value, tree);
  return isArray(value) ? value.map((element) => excludedWithin(element, tree)) : value;
}

/** Sets the computed fields; a missing value removes its field. */
export function compute(document: Map<string, Bson>, tree: FieldTree, frame: Frame): void {
  for (const [name, child] of tree.children) {
    if (child instanceof FieldTree) {
      if (child.computes) document.set(name, computedWithin(document.get(name), child, frame));
    } else if (child.kind === 'compute') {
      const value = child.evaluate(frame);
      if (value === undefined) document.delete(name);
      else document.set(name, value);
    }
  }
}

function computedWithin(value: Bson | undefined, tree: FieldTree, frame: Frame): Bson {
  if (isArray(value)) return value.map((element) => computedWithin(element, tree, frame));
  const copy = new Map<string, Bson>(isDocument(value) ? value : []);
  compute(copy, tree, frame);
  return copy;
}
