/**
 * Which paths of an item are indexed, and the number of each.
 *
 * The number of a path is a hash of its text, so that there is no dictionary to store, load or bound. Two paths with
 * one number only make too many candidates, and every candidate is checked against the item.
 *
 * A policy is a set of included and excluded paths. The longest path that covers a value decides; `/a/?` (this value)
 * comes before `/a/*` (all below).
 */
import {
  assert,
  type Bytes,
  bytesEqualAt,
  murmur3x64_128,
  ownBytes,
  textToBytes,
} from '../../../base/index.ts';
import {
  ARRAY_ELEMENT,
  CELLS,
  DECLARED,
  type Path,
  parseScopedPath,
  printPath,
  TYPE_ANNOTATION,
} from '../../../value/index.ts';
import { CardinalityEstimate } from './cardinality-estimate.ts';

export const PATH_NUMBER_BYTES = 8;

/** Path nodes kept; items with ever new names must not fill the memory. */
const NODES_MAX = 20_000;

/** System properties that change with every write: no query needs them, and every write would pay for them. */
const NEVER_INDEXED: ReadonlySet<string> = new Set(['_etag', '_rid', '_self', '_attachments']);

function isNeverIndexed(name: string): boolean {
  return NEVER_INDEXED.has(name) || name.endsWith(TYPE_ANNOTATION);
}

export interface IndexRules {
  readonly included: readonly string[];
  readonly excluded: readonly string[];
  /** Indexed whatever the policy says. */
  readonly always: readonly string[];
  /** Names at the root that wildcards do not cover: they are indexed only where a path names them. */
  readonly namedOnly?: readonly string[];
}

/** One path of an item, with its children. */
export interface PathNode {
  /** A small number, different for every path below one root. */
  readonly id: number;
  readonly number: Bytes;
  readonly isIndexed: boolean;
  /** False where nothing below can be indexed. */
  readonly isOpen: boolean;
  /** Estimate for the values of this path. */
  readonly cardinality: CardinalityEstimate;
  child(name: string): PathNode;
  /** The same, but a new child is not kept: a wide item has names that no other item has. */
  temporaryChild(name: string): PathNode;
  /** The name as JSON text, with quotation marks. */
  readonly printed: Buffer;
  /** The child after `before` (undefined: the first), where the text has the same name as the last object did. */
  expectedChild(text: Buffer, start: number, before: PathNode | undefined): PathNode | undefined;
  /** The child after `before` by its name; the next object is expected to have it there. */
  childAfter(before: PathNode | undefined, name: string): PathNode;
  /** The path of the elements of an array. */
  elementNode(): PathNode;
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

  /** The path of the item itself. */
  root(): PathNode {
    if (this.#count > NODES_MAX) {
      this.#count = 0;
      this.#root = this.#newRoot();
    }
    return this.#root;
  }

  /** Names at the root under which something may be indexed; undefined where that can be all of them. */
  rootNames(): readonly string[] | undefined {
    return this.#rules.subtree === true ? undefined : [...this.#rules.children.keys()];
  }

  isIndexed(path: Path): boolean {
    let node: PathNode = this.#newRoot();
    for (const step of path) {
      if (step === CELLS || step === DECLARED) return false;
      node = step === ARRAY_ELEMENT ? node.elementNode() : node.child(step);
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
  #elementNode: Node | undefined;
  #printed: Buffer | undefined;
  /** The first name of the last object and the name after this one: objects of one path are similar. */
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
    const number = pathNumber(path);
    this.number = nextId === noId ? number : ownBytes(number);
  }

  get printed(): Buffer {
    const name = this.#path.at(-1);
    this.#printed ??= ownBytes(textToBytes(typeof name === 'string' ? JSON.stringify(name) : ''));
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

  temporaryChild(name: string): Node {
    const kept = this.#children?.get(name);
    return kept ?? this.#below(name, this.#rule?.children.get(name), noId);
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

  elementNode(): Node {
    this.#elementNode ??= this.#below(ARRAY_ELEMENT, this.#rule?.element, this.#nextId);
    return this.#elementNode;
  }

  #below(step: Path[number], rule: RuleNode | undefined, nextId: () => number): Node {
    return new Node([...this.#path, step], rule, this.#inherited, nextId);
  }
}

/** The id of paths that are not kept. */
function noId(): number {
  return -1;
}

/** The rules of a policy for one path. */
interface RuleNode {
  value: boolean | undefined;
  subtree: boolean | undefined;
  readonly children: Map<string, RuleNode>;
  element: RuleNode | undefined;
}

function newRule(): RuleNode {
  return { value: undefined, subtree: undefined, children: new Map(), element: undefined };
}

function compile({ included, excluded, always, namedOnly = [] }: IndexRules): RuleNode {
  const root = newRule();
  const add = (text: string, isIncluded: boolean): void => {
    const { path, scope } = parseScopedPath(text);
    const rule = ruleAt(root, path);
    rule[scope] = isIncluded;
  };
  for (const path of included) add(path, true);
  for (const path of excluded) add(path, false);
  for (const path of always) add(path, true);
  for (const name of namedOnly) ruleAt(root, [name]).subtree ??= false;
  return root;
}

function ruleAt(root: RuleNode, path: Path): RuleNode {
  let rule = root;
  for (const step of path) {
    assert(step !== CELLS && step !== DECLARED, 'no policy names cells or indexes');
    let next = step === ARRAY_ELEMENT ? rule.element : rule.children.get(step);
    if (next === undefined) {
      next = newRule();
      if (step === ARRAY_ELEMENT) rule.element = next;
      else rule.children.set(step, next);
    }
    rule = next;
  }
  return rule;
}
