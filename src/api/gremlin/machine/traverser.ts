/** A traverser: a value on its way through the steps, how many times it is there, and where it has been. */
import type { Path as GremlinPath, Vertex } from '../model/elements.ts';
import { Path } from '../model/elements.ts';
import type { GremlinValue } from '../model/value.ts';

const NO_LABELS: ReadonlySet<string> = new Set();

/** The way so far as a chain that branches share. The first node stands for "no place yet". */
export interface PathNode {
  readonly object: GremlinValue;
  readonly labels: ReadonlySet<string>;
  readonly previous: PathNode | undefined;
  /** False where only places with labels are kept, because nothing else is asked for. */
  readonly isFull: boolean;
}

/** The way of a traverser that has not met a step. */
export const NO_PATH: PathNode = {
  object: null,
  labels: NO_LABELS,
  previous: undefined,
  isFull: true,
};
export const NO_LABELLED_PATH: PathNode = { ...NO_PATH, isFull: false };

/** How often the innermost repeat() has run, and those around it. */
interface Loops {
  readonly count: number;
  /** The name of the repeat(), where it has one. */
  readonly name?: string | undefined;
  readonly outer: Loops | undefined;
}

export class Traverser {
  readonly value: GremlinValue;
  bulk: number;
  /** Undefined where the traversal does not need ways. */
  readonly path: PathNode | undefined;
  /** Which input of the nested traversal it comes from; barriers keep inputs apart by it. */
  readonly origin: number;
  readonly loops: Loops | undefined;
  /** The vertex from which it came to an edge. */
  readonly via: Vertex | undefined;
  /** The value that the traverser carries besides; undefined where the traversal has no sacks. */
  readonly sack: GremlinValue | undefined;

  constructor(value: GremlinValue, from: Partial<Omit<Traverser, 'value' | 'to' | 'with'>> = {}) {
    this.value = value;
    this.bulk = from.bulk ?? 1;
    this.path = from.path;
    this.origin = from.origin ?? 0;
    this.loops = from.loops;
    this.via = from.via;
    this.sack = from.sack;
  }

  /** The traverser at its next value. */
  to(value: GremlinValue, via?: Vertex): Traverser {
    const { bulk, origin, loops, sack } = this;
    const path: PathNode | undefined =
      this.path?.isFull === true
        ? { object: value, labels: NO_LABELS, previous: this.path, isFull: true }
        : this.path;
    return new Traverser(value, { bulk, origin, loops, path, via, sack });
  }

  /** The same traverser with some properties changed. */
  with(changes: Partial<Omit<Traverser, 'to' | 'with'>>): Traverser {
    const { bulk, origin, loops, path, via, sack } = this;
    const value = 'value' in changes ? (changes.value as GremlinValue) : this.value;
    return new Traverser(value, { bulk, origin, loops, path, via, sack, ...changes });
  }
}

/** The traverser with labels at its present place. */
export function labelled(traverser: Traverser, labels: ReadonlySet<string>): Traverser {
  const { path, value } = traverser;
  if (path === undefined || labels.size === 0) return traverser;
  // Before the first step there is no place to label yet: the value itself becomes the first.
  if (!path.isFull || path.previous === undefined)
    return traverser.with({ path: { object: value, labels, previous: path, isFull: path.isFull } });
  return traverser.with({ path: { ...path, labels: new Set([...path.labels, ...labels]) } });
}

/** Places of the way, oldest first. */
export function placesOf(path: PathNode | undefined): PathNode[] {
  const places: PathNode[] = [];
  for (let node = path; node?.previous !== undefined; node = node.previous) places.push(node);
  return places.reverse();
}

interface PathBounds {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** from() and to() behind a step that looks at ways. */
export function pathBounds(
  modulators: readonly { readonly name: string; readonly args: readonly GremlinValue[] }[],
): PathBounds {
  const labelOf = (side: string): string | undefined => {
    const argument = modulators.findLast(({ name }) => name === side)?.args[0];
    return typeof argument === 'string' ? argument : undefined;
  };
  return { from: labelOf('from'), to: labelOf('to') };
}

/** The places between the last ones with the labels. */
export function boundedPlaces({ path }: Traverser, { from, to }: PathBounds): PathNode[] {
  const places = placesOf(path);
  const at = (label: string): number => places.findLastIndex(({ labels }) => labels.has(label));
  const start = from === undefined ? 0 : Math.max(0, at(from));
  const end = to === undefined ? places.length : at(to) + 1 || places.length;
  return places.slice(start, end);
}

export function pathOf(places: readonly PathNode[]): GremlinPath {
  return new Path(
    places.map(({ object }) => object),
    places.map(({ labels }) => labels),
  );
}
