/**
 * Which paths of an item are indexed, and the number each goes by.
 *
 * A path's number is a hash of its text: no dictionary to keep, load or bound. Two paths with one number would only
 * give candidates too many, and every candidate is checked against the item.
 *
 * A policy is a set of included and excluded paths; the longest that covers a value decides, and `/a/?` (this value)
 * before `/a/*` (all below).
 */
import { assert, type Bytes, bytesEqualAt, murmur3x64_128, textToBytes } from '../../base/index.ts';
import {
  ARRAY_ELEMENT,
  CELLS,
  type Path,
  parseScopedPath,
  printPath,
  TYPE_ANNOTATION,
} from '../../value/index.ts';

import { CardinalityEstimate } from './cardinality-estimate.ts';

export const PATH_NUMBER_BYTES = 8;

/** Paths remembered; an item with ever new names must not fill the memory. */
const NODES_MAX = 20_000;

/** Added or changed by the system with every write, or telling types: nobody searches them, all would pay. */
const NEVER_INDEXED: ReadonlySet<string> = new Set(['_etag', '_rid', '_self', '_attachments']);

function isNeverIndexed(name: string): boolean {
  return NEVER_INDEXED.has(name) || name.endsWith(TYPE_ANNOTATION);
}

export interface IndexRules {
  readonly included: readonly string[];
  readonly excluded: readonly string[];
  /** Indexed whatever the policy says. */
  readonly always: readonly string[];
  /** Names at the root that wildcards do not cover: indexed only where a path names them. */
  readonly alone?: readonly string[];
}

/** One step of the way from an item's root to its values. */
export interface PathNode {
  /** Small, and unlike that of every other path below the same root. */
  readonly id: number;
  readonly number: Bytes;
  readonly isIndexed: boolean;
  /** False where nothing below can be indexed: the walk need not go there. */
  readonly isOpen: boolean;
  /** Of the values met there. */
  readonly cardinality: CardinalityEstimate;
  child(name: string): PathNode;
  /** The same, not remembered where it is new: a wide item has names that no other has. */
  passingChild(name: string): PathNode;
  /** The name as JSON prints it, quotation marks and all. */
  readonly printed: Buffer;
  /** The child that comes behind `before` or, without one, first, where it is the same as in the last object. */
  expectedChild(text: Buffer, start: number, before: PathNode | undefined): PathNode | undefined;
  /** The same, whatever it is. */
  childAfter(before: PathNode | undefined, name: string): PathNode;
  each(): PathNode;
}

export function pathNumber(path: Path): Bytes {
  return murmur3x64_128(textToBytes(printPath(path))).subarray(0, PATH_NUMBER_BYTES);
}

export class IndexPaths {
  readonly #rules: RuleNode;
  #root: Node;
  #count = 0;

  constructor(rules: IndexRules) {
    this.#rules = compile(rules);
    this.#root = this.#newRoot();
  }

  /** Where the walk through an item begins. */
  root(): PathNode {
    if (this.#count > NODES_MAX) {
      this.#count = 0;
      this.#root = this.#newRoot();
    }
    return this.#root;
  }

  isIndexed(path: Path): boolean {
    let node: PathNode = this.#newRoot();
    for (const step of path) {
      if (step === CELLS) return false;
      node = step === ARRAY_ELEMENT ? node.each() : node.child(step);
    }
    return node.isIndexed;
  }

  #newRoot(): Node {
    return new Node([], this.#rules, this.#rules.subtree ?? false, () => this.#count++);
  }
}

class Node implements PathNode {
  readonly id: number;
  readonly number: Bytes;
  readonly isIndexed: boolean;
  readonly isOpen: boolean;
  readonly cardinality = new CardinalityEstimate();
  readonly #path: Path;
  readonly #rule: RuleNode | undefined;
  readonly #inherited: boolean;
  readonly #nextId: () => number;
  #children: Map<string, Node> | undefined;
  #each: Node | undefined;
  #printed: Buffer | undefined;
  /** What came first in the last object, and what came behind this: objects of one path are alike. */
  #first: Node | undefined;
  #next: Node | undefined;

  constructor(path: Path, rule: RuleNode | undefined, inherited: boolean, nextId: () => number) {
    this.id = nextId();
    this.#path = path;
    this.#rule = rule;
    this.#inherited = rule?.subtree ?? inherited;
    this.#nextId = nextId;
    const isSystem = path.length === 1 && isNeverIndexed(path[0] as string);
    this.isIndexed = !isSystem && (rule?.value ?? this.#inherited);
    this.isOpen = !isSystem && (this.isIndexed || this.#inherited || rule !== undefined);
    this.number = pathNumber(path);
  }

  get printed(): Buffer {
    const name = this.#path.at(-1);
    this.#printed ??= Buffer.from(typeof name === 'string' ? JSON.stringify(name) : '');
    return this.#printed;
  }

  child(name: string): Node {
    this.#children ??= new Map();
    let child = this.#children.get(name);
    if (child === undefined) {
      child = this.#below(name, this.#rule?.children.get(name), this.#nextId);
      this.#children.set(name, child);
    }
    return child;
  }

  passingChild(name: string): Node {
    const known = this.#children?.get(name);
    return known ?? this.#below(name, this.#rule?.children.get(name), noId);
  }

  expectedChild(text: Buffer, start: number, before: Node | undefined): Node | undefined {
    const child = before === undefined ? this.#first : before.#next;
    if (child === undefined) return undefined;
    return bytesEqualAt(text, start, start + child.printed.length, child.printed)
      ? child
      : undefined;
  }

  childAfter(before: Node | undefined, name: string): Node {
    const child = this.child(name);
    if (before === undefined) this.#first = child;
    else before.#next = child;
    return child;
  }

  each(): Node {
    this.#each ??= this.#below(ARRAY_ELEMENT, this.#rule?.each, this.#nextId);
    return this.#each;
  }

  #below(step: Path[number], rule: RuleNode | undefined, nextId: () => number): Node {
    return new Node([...this.#path, step], rule, this.#inherited, nextId);
  }
}

/** For paths that nobody remembers. */
function noId(): number {
  return -1;
}

/** What a policy says about one path. */
interface RuleNode {
  value: boolean | undefined;
  subtree: boolean | undefined;
  readonly children: Map<string, RuleNode>;
  each: RuleNode | undefined;
}

function newRule(): RuleNode {
  return { value: undefined, subtree: undefined, children: new Map(), each: undefined };
}

function compile({ included, excluded, always, alone = [] }: IndexRules): RuleNode {
  const root = newRule();
  const add = (text: string, isIncluded: boolean): void => {
    const { path, scope } = parseScopedPath(text);
    const rule = ruleAt(root, path);
    rule[scope] = isIncluded;
  };
  for (const path of included) add(path, true);
  for (const path of excluded) add(path, false);
  for (const path of always) add(path, true);
  for (const name of alone) ruleAt(root, [name]).subtree ??= false;
  return root;
}

function ruleAt(root: RuleNode, path: Path): RuleNode {
  let rule = root;
  for (const step of path) {
    assert(step !== CELLS, 'no policy names cells');
    let next = step === ARRAY_ELEMENT ? rule.each : rule.children.get(step);
    if (next === undefined) {
      next = newRule();
      if (step === ARRAY_ELEMENT) rule.each = next;
      else rule.children.set(step, next);
    }
    rule = next;
  }
  return rule;
}
