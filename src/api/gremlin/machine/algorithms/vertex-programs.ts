/**
 * Algorithms over the whole graph: pageRank, peerPressure, connectedComponent. They read all vertices, compute in
 * memory within the bounds of a traversal, and show their result as a property of vertices until the request ends.
 */
import { compileError } from '../../errors.ts';
import { addressKey, Edge, Vertex } from '../../model/elements.ts';
import { valueKey } from '../../model/equality.ts';
import { isNumber, numberOf, toDouble } from '../../model/number.ts';
import { Bytecode } from '../../model/terms.ts';
import { textOf } from '../../model/text.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { barrierStep, evaluate, type Frame, type Pipeline, type Step } from '../step.ts';
import { Traverser } from '../traverser.ts';

export const PROGRAM_STEPS: StepTable = {
  pageRank: (clause, compiler) => pageRankStep(clause, compiler),
  peerPressure: (clause, compiler) => peerPressureStep(clause, compiler),
  connectedComponent: (clause, compiler) => connectedComponentStep(clause, compiler),
};

/** Rounds of an algorithm: a bound for those that clients choose. */
const ROUNDS_MAX = 1000;

export function optionOf({ modulators }: Clause, name: string): GremlinValue | undefined {
  const option = modulators.findLast(
    ({ name: modulator, args }) => modulator === 'with' && args[0] === name,
  );
  return option === undefined ? undefined : (option.args[1] ?? true);
}

function textOption(clause: Clause, name: string, otherwise: string): string {
  const value = optionOf(clause, name) ?? otherwise;
  if (typeof value !== 'string') throw compileError(`${name} is a text.`);
  return value;
}

function roundsOption(clause: Clause, name: string, otherwise: number): number {
  const value = optionOf(clause, name) ?? otherwise;
  if (!isNumber(value)) throw compileError(`${name} is a number.`);
  return Math.min(toDouble(value), ROUNDS_MAX);
}

export function edgesOption(
  clause: Clause,
  name: string,
  otherwise: string,
  compiler: Compiler,
): Pipeline {
  const value = optionOf(clause, name);
  if (value instanceof Bytecode) return compiler.pipeline(value);
  return compiler.pipeline(new Bytecode([], [{ name: otherwise, args: [] }]));
}

async function allVertices({ run }: Frame): Promise<Vertex[]> {
  const vertices: Vertex[] = [];
  for await (const page of run.graph.vertices({ targets: undefined, conditions: [] })) {
    run.pace.hold(page.length);
    for (const vertex of page) vertices.push(vertex);
    await run.pace.spend(page.length);
  }
  return vertices;
}

/** For each vertex, the places of the vertices that its edges lead to. */
async function neighbours(
  vertices: readonly Vertex[],
  edges: Pipeline,
  frame: Frame,
): Promise<number[][]> {
  const places = new Map(vertices.map((vertex, at) => [addressKey(vertex), at]));
  const inputs = vertices.map((value) => new Traverser(value));
  const found: number[][] = [];
  for (let from = 0; from < inputs.length; from += 1000) {
    const results = await evaluate(edges, inputs.slice(from, from + 1000), frame);
    for (const [at, each] of results.entries()) {
      const near = vertices[from + at] as Vertex;
      frame.run.pace.hold(each.length);
      found.push(
        each.flatMap(({ value, bulk }) => {
          if (!(value instanceof Edge)) return [];
          const far =
            addressKey(value.outVertex) === addressKey(near) ? value.inVertex : value.outVertex;
          const place = places.get(addressKey(far));
          return place === undefined ? [] : Array.from({ length: bulk }, () => place);
        }),
      );
    }
  }
  return found;
}

/** Runs an algorithm, and gives the vertices of the input the property that it has computed. */
function vertexStep(
  property: string,
  compute: (
    vertices: readonly Vertex[],
    input: readonly Traverser[],
    frame: Frame,
  ) => Promise<readonly GremlinValue[]>,
): Step {
  return barrierStep(async (all, frame) => {
    const vertices = await allVertices(frame);
    const values = await compute(vertices, all, frame);
    for (const [at, vertex] of vertices.entries())
      frame.run.graph.compute(vertex, property, values[at] as GremlinValue);
    const computed = new Map(vertices.map((vertex) => [addressKey(vertex), vertex]));
    return all.map((traverser) => {
      const { value } = traverser;
      const vertex = value instanceof Vertex ? computed.get(addressKey(value)) : undefined;
      return vertex === undefined ? traverser : traverser.with({ value: vertex });
    });
  });
}

function pageRankStep(clause: Clause, compiler: Compiler): Step {
  const [given = 0.85] = clause.args;
  if (!isNumber(given)) throw compileError('pageRank() needs a number.');
  const alpha = toDouble(given);
  const edges = edgesOption(clause, '~tinkerpop.pageRank.edges', 'outE', compiler);
  const property = textOption(
    clause,
    '~tinkerpop.pageRank.propertyName',
    'gremlin.pageRankVertexProgram.pageRank',
  );
  const rounds = roundsOption(clause, '~tinkerpop.pageRank.times', 20);
  return vertexStep(property, async (vertices, input, frame) => {
    const links = await neighbours(vertices, edges, frame);
    const initial = initialWeights(vertices, input);
    const ranks = await pageRanks(links, initial, { alpha, rounds }, frame);
    return ranks.map((rank) => numberOf('double', rank));
  });
}

/** The number of traversers at each vertex; undefined where the input is simply all vertices. */
function initialWeights(
  vertices: readonly Vertex[],
  input: readonly Traverser[],
): number[] | undefined {
  const counts = new Map<string, number>();
  for (const { value, bulk } of input)
    if (value instanceof Vertex)
      counts.set(addressKey(value), (counts.get(addressKey(value)) ?? 0) + bulk);
  const isAll =
    counts.size === vertices.length && [...counts.values()].every((count) => count === 1);
  if (isAll) return undefined;
  return vertices.map((vertex) => counts.get(addressKey(vertex)) ?? 0);
}

/** Changes in all ranks together below this end the algorithm. */
const CONVERGENCE = 0.000_01;

async function pageRanks(
  links: readonly (readonly number[])[],
  initial: readonly number[] | undefined,
  { alpha, rounds }: { readonly alpha: number; readonly rounds: number },
  { run }: Frame,
): Promise<readonly number[]> {
  const count = links.length;
  let received = initial ?? links.map(() => 0);
  let ranks: number[] = links.map(() => 0);
  // What belongs to no vertex is shared by all in the next round: in the beginning everything.
  let shared = initial === undefined ? 1 : 0;
  for (let round = 0; round <= rounds; round++) {
    const share = shared / count;
    const next: number[] = links.map(() => 0);
    let change = 0;
    for (const [at, targets] of links.entries()) {
      const rank = (received[at] as number) + share;
      change += Math.abs(rank - (ranks[at] as number));
      ranks[at] = rank;
      shared += (1 - alpha) * rank - share;
      if (targets.length === 0) shared += alpha * rank;
      for (const target of targets) (next[target] as number) += (alpha * rank) / targets.length;
      await run.pace.spend(1 + targets.length);
    }
    received = next;
    if (change < CONVERGENCE) break;
    ranks = [...ranks];
  }
  return ranks;
}

function peerPressureStep(clause: Clause, compiler: Compiler): Step {
  const edges = edgesOption(clause, '~tinkerpop.peerPressure.edges', 'outE', compiler);
  const property = textOption(
    clause,
    '~tinkerpop.peerPressure.propertyName',
    'gremlin.peerPressureVertexProgram.cluster',
  );
  const rounds = roundsOption(clause, '~tinkerpop.peerPressure.times', 30);
  return vertexStep(property, async (vertices, input, frame) => {
    const links = await neighbours(vertices, edges, frame);
    const strengths = initialWeights(vertices, input) ?? vertices.map(() => 1);
    let clusters: GremlinValue[] = vertices.map(({ id }) => id);
    for (let round = 0; round < rounds; round++) {
      const votes = clusters.map(
        (cluster, at): Votes =>
          new Map([[valueKey(cluster), { cluster, count: strengths[at] as number }]]),
      );
      for (const [at, targets] of links.entries())
        for (const target of targets)
          vote(votes[target] as Votes, clusters[at] as GremlinValue, strengths[at] as number);
      const next = votes.map((each, at) => winner(each) ?? (vertices[at] as Vertex).id);
      await frame.run.pace.spend(links.length);
      const isSame = next.every(
        (each, at) => valueKey(each) === valueKey(clusters[at] as GremlinValue),
      );
      clusters = next;
      if (isSame) break;
    }
    return clusters;
  });
}

type Votes = Map<string, { readonly cluster: GremlinValue; count: number }>;

function vote(votes: Votes, cluster: GremlinValue, strength: number): void {
  const known = votes.get(valueKey(cluster));
  if (known === undefined) votes.set(valueKey(cluster), { cluster, count: strength });
  else known.count += strength;
}

/** The cluster with most votes, of several the one whose text is least; undefined where none has any. */
function winner(votes: Votes): GremlinValue | undefined {
  let best: { readonly cluster: GremlinValue; readonly count: number } | undefined;
  for (const each of votes.values())
    if (
      each.count > (best?.count ?? 0) ||
      (each.count === best?.count && textOf(each.cluster) < textOf(best.cluster))
    )
      best = each;
  return best?.cluster;
}

function connectedComponentStep(clause: Clause, compiler: Compiler): Step {
  const edges = edgesOption(clause, '~tinkerpop.connectedComponent.edges', 'bothE', compiler);
  const property = textOption(
    clause,
    '~tinkerpop.connectedComponent.propertyName',
    'gremlin.connectedComponentVertexProgram.component',
  );
  return vertexStep(property, async (vertices, _, frame) => {
    const links = await neighbours(vertices, edges, frame);
    const components = vertices.map(({ id }) => textOf(id));
    const order = [...components.keys()].sort((a, b) =>
      (components[a] as string) < (components[b] as string) ? -1 : 1,
    );
    // The least id of a component spreads to all of it before a greater one begins.
    const seen = new Set<number>();
    for (const start of order) {
      if (seen.has(start)) continue;
      const name = components[start] as string;
      const waiting = [start];
      seen.add(start);
      for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
        components[at] = name;
        for (const next of links[at] ?? [])
          if (!seen.has(next)) {
            seen.add(next);
            waiting.push(next);
          }
        await frame.run.pace.spend(1);
      }
    }
    return components;
  });
}
