/** From vertices to edges and neighbours, and from edges to their ends. A batch is one look-up. */
import { compileError, runtimeError } from '../../errors.ts';
import { addressKey, Edge, Vertex } from '../../model/elements.ts';
import { EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { StepTable } from '../compiler.ts';
import { batchStep, chunks, type Frame, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { textsOf } from './arguments.ts';

type Direction = 'out' | 'in' | 'both';

export const ADJACENT_STEPS: StepTable = {
  out: ({ args }) => neighboursStep('out', textsOf(args, 'out'), false),
  in: ({ args }) => neighboursStep('in', textsOf(args, 'in'), false),
  both: ({ args }) => neighboursStep('both', textsOf(args, 'both'), false),
  outE: ({ args }) => neighboursStep('out', textsOf(args, 'outE'), true),
  inE: ({ args }) => neighboursStep('in', textsOf(args, 'inE'), true),
  bothE: ({ args }) => neighboursStep('both', textsOf(args, 'bothE'), true),
  to: ({ args }) => neighboursStep(directionOf(args[0], 'to'), textsOf(args.slice(1), 'to'), false),
  toE: ({ args }) =>
    neighboursStep(directionOf(args[0], 'toE'), textsOf(args.slice(1), 'toE'), true),
  toV: ({ args: [direction] }) => {
    const side = directionOf(direction, 'toV');
    return endsStep('toV', ({ outVertex, inVertex }) =>
      side === 'both' ? [outVertex, inVertex] : [side === 'out' ? outVertex : inVertex],
    );
  },
  outV: () => endsStep('outV', ({ outVertex }) => [outVertex]),
  inV: () => endsStep('inV', ({ inVertex }) => [inVertex]),
  bothV: () => endsStep('bothV', ({ outVertex, inVertex }) => [outVertex, inVertex]),
  otherV: () => endsStep('otherV', otherEnd),
};

function directionOf(value: GremlinValue | undefined, step: string): Direction {
  if (!(value instanceof EnumValue) || value.type !== 'Direction')
    throw compileError(`${step}() needs a direction.`);
  if (value.name === 'BOTH') return 'both';
  return value.name === 'OUT' || value.name === 'from' ? 'out' : 'in';
}

function neighboursStep(direction: Direction, labels: readonly string[], toEdges: boolean): Step {
  const sides = direction === 'both' ? (['out', 'in'] as const) : [direction];
  return async function* (input, frame) {
    for await (const batch of input) {
      const places = atVertices(batch, toEdges ? `${direction}E` : direction);
      const vertices = [...places.values()].map(([first]) => first?.traverser.value as Vertex);
      let found: Found[] = [];
      for (const side of sides)
        for await (const edges of frame.run.graph.edgesOf(vertices, side, labels)) {
          for (const edge of edges) {
            const before = found.length;
            for (const each of follow(edge, side, places, toEdges)) found.push(each);
            await frame.run.pace.spend(1 + found.length - before);
            // Many traversers at one vertex make many of each edge.
            if (found.length < FOUND_MAX) continue;
            yield* chunks(inOrder(found, toEdges, frame));
            found = [];
          }
          // What comes from one vertex is in order already.
          if (found.length < REORDERED_MAX && (places.size > 1 || sides.length > 1)) continue;
          yield* chunks(inOrder(found, toEdges, frame));
          found = [];
        }
      yield* chunks(inOrder(found, toEdges, frame));
    }
  };
}

/** Traversers that are put into the order of those that they come from. */
const REORDERED_MAX = 1000;

/** Traversers that are made before they go on. */
const FOUND_MAX = 2000;

interface Found {
  readonly traverser: Traverser;
  /** The place of the traverser that it comes from. */
  readonly from: number;
}

interface Place {
  readonly traverser: Traverser;
  readonly at: number;
}

function inOrder(found: Found[], toEdges: boolean, frame: Frame): readonly Traverser[] {
  found.sort((a, b) => a.from - b.from);
  const next = found.map(({ traverser }) => traverser);
  return toEdges ? next : merged(next, frame);
}

/** The traversers by the vertex that they are at. */
function atVertices(batch: readonly Traverser[], step: string): Map<string, Place[]> {
  const places = new Map<string, Place[]>();
  for (const [at, traverser] of batch.entries()) {
    if (!(traverser.value instanceof Vertex))
      throw runtimeError(`${step}() can only be used on vertices.`);
    const key = addressKey(traverser.value);
    const others = places.get(key);
    if (others === undefined) places.set(key, [{ traverser, at }]);
    else others.push({ traverser, at });
  }
  return places;
}

function follow(
  edge: Edge,
  side: 'out' | 'in',
  places: ReadonlyMap<string, readonly Place[]>,
  toEdges: boolean,
): Found[] {
  const [near, far] =
    side === 'out' ? [edge.outVertex, edge.inVertex] : [edge.inVertex, edge.outVertex];
  const traversers = places.get(addressKey(near)) ?? [];
  return traversers.map(({ traverser, at }) => ({
    traverser: toEdges ? traverser.to(edge, traverser.value as Vertex) : traverser.to(far),
    from: at,
  }));
}

/** Traversers at the same vertex become one with a larger bulk, unless their ways or sacks matter. */
function merged(traversers: readonly Traverser[], { run }: Frame): readonly Traverser[] {
  if (traversers.length < 2 || run.emptyPath !== undefined || run.source.sack !== undefined)
    return traversers;
  if (!run.source.hasBulk) return traversers;
  const first = new Map<string, Traverser>();
  for (const traverser of traversers) {
    const key = `${traverser.origin}:${traverser.loops?.count}:${addressKey(traverser.value as Vertex)}`;
    const known = first.get(key);
    if (known === undefined) first.set(key, traverser);
    else known.bulk += traverser.bulk;
  }
  return [...first.values()];
}

function endsStep(
  name: string,
  ends: (edge: Edge, traverser: Traverser) => readonly Vertex[],
): Step {
  return batchStep((batch, _frame: Frame) =>
    batch.flatMap((traverser) =>
      ends(edgeAt(traverser.value, name), traverser).map((vertex) => traverser.to(vertex)),
    ),
  );
}

function edgeAt(value: GremlinValue, step: string): Edge {
  if (!(value instanceof Edge)) throw runtimeError(`${step}() can only be used on edges.`);
  return value;
}

function otherEnd({ outVertex, inVertex }: Edge, { via }: Traverser): readonly Vertex[] {
  if (via === undefined) throw runtimeError('otherV() needs a vertex before the edge.');
  return [addressKey(via) === addressKey(outVertex) ? inVertex : outVertex];
}
