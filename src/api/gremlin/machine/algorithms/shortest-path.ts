/** shortestPath(): all shortest ways from each vertex to others, by number of edges or by a distance. */
import { compileError, runtimeError, tooMuchMemory } from '../../errors.ts';
import { HELD_TRAVERSERS_MAX } from '../../limits.ts';
import { addressKey, Edge, Path, Vertex } from '../../model/elements.ts';
import { isNumber, toDouble } from '../../model/number.ts';
import { Bytecode, EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, byOf, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { barrierStep, evaluate, type Frame, type Pipeline, type Step } from '../step.ts';
import { Traverser } from '../traverser.ts';
import { edgesOption, optionOf } from './vertex-programs.ts';

export const SHORTEST_PATH_STEPS: StepTable = {
  shortestPath: (clause, compiler) => shortestPathStep(clause, compiler),
};

const PREFIX = '~tinkerpop.shortestPath.';

interface Settings {
  readonly edges: Pipeline;
  readonly target: Pipeline | undefined;
  readonly distance: By | undefined;
  readonly distanceMax: number;
  readonly includesEdges: boolean;
}

function settingsOf(clause: Clause, compiler: Compiler): Settings {
  const target = optionOf(clause, `${PREFIX}target`);
  const distance = optionOf(clause, `${PREFIX}distance`);
  const most = optionOf(clause, `${PREFIX}maxDistance`);
  const edges = optionOf(clause, `${PREFIX}edges`);
  const named = edges instanceof EnumValue ? DIRECTIONS[edges.name] : undefined;
  return {
    edges: edgesOption(clause, `${PREFIX}edges`, named ?? 'bothE', compiler),
    target: target instanceof Bytecode ? compiler.pipeline(target) : undefined,
    distance: distance === undefined ? undefined : byOf({ name: 'by', args: [distance] }, compiler),
    distanceMax: isNumber(most) ? toDouble(most) : Number.POSITIVE_INFINITY,
    includesEdges: optionOf(clause, `${PREFIX}includeEdges`) === true,
  };
}

const DIRECTIONS: Readonly<Record<string, string>> = { OUT: 'outE', IN: 'inE', BOTH: 'bothE' };

function shortestPathStep(clause: Clause, compiler: Compiler): Step {
  const settings = settingsOf(clause, compiler);
  return barrierStep(async (all, frame) => {
    const next: Traverser[] = [];
    const links = new Map<string, readonly Link[]>();
    for (const traverser of all) {
      if (!(traverser.value instanceof Vertex))
        throw runtimeError('shortestPath() can only be used on vertices.');
      const paths = await pathsFrom(traverser.value, settings, links, frame);
      for (const path of paths) next.push(traverser.to(path));
      if (next.length > HELD_TRAVERSERS_MAX)
        throw tooMuchMemory('There are too many shortest paths.');
    }
    return next;
  });
}

interface Link {
  readonly edge: Edge;
  readonly far: Vertex;
  readonly distance: number;
}

/** How a vertex was reached: its distance, and all last edges of ways that are as short. */
interface Reached {
  readonly vertex: Vertex;
  readonly distance: number;
  readonly by: { readonly from: string; readonly edge: Edge }[];
}

async function linksOf(
  vertices: readonly Vertex[],
  { edges, distance }: Settings,
  known: Map<string, readonly Link[]>,
  frame: Frame,
): Promise<void> {
  const unknown = vertices.filter((vertex) => !known.has(addressKey(vertex)));
  if (unknown.length === 0) return;
  const results = await evaluate(
    edges,
    unknown.map((value) => new Traverser(value)),
    frame,
  );
  for (const [at, found] of results.entries()) {
    const near = unknown[at] as Vertex;
    const weights = distance === undefined ? undefined : await resolveBy(distance, found, frame);
    known.set(
      addressKey(near),
      found.flatMap(({ value }, index): Link[] => {
        if (!(value instanceof Edge)) return [];
        const isOut = addressKey(value.outVertex) === addressKey(near);
        return [
          {
            edge: value,
            far: isOut ? value.inVertex : value.outVertex,
            distance: weights === undefined ? 1 : weightOf(weights[index]),
          },
        ];
      }),
    );
    frame.run.pace.hold(found.length);
  }
}

function weightOf(value: GremlinValue | undefined): number {
  if (!isNumber(value)) throw compileError('The distance of shortestPath() is a number.');
  const weight = toDouble(value);
  if (weight < 0) throw runtimeError('The distance of shortestPath() cannot be negative.');
  return weight;
}

async function pathsFrom(
  start: Vertex,
  settings: Settings,
  links: Map<string, readonly Link[]>,
  frame: Frame,
): Promise<Path[]> {
  const reached = new Map<string, Reached>([
    [addressKey(start), { vertex: start, distance: 0, by: [] }],
  ]);
  // Vertices whose distance became less go on again, until nothing changes.
  for (let frontier: readonly Vertex[] = [start]; frontier.length > 0; ) {
    await linksOf(frontier, settings, links, frame);
    const changed = new Map<string, Vertex>();
    for (const near of frontier) {
      const from = addressKey(near);
      const { distance } = reached.get(from) as Reached;
      for (const link of links.get(from) ?? []) {
        const isNearer = relax(reached, from, distance + link.distance, link, settings);
        if (isNearer) changed.set(addressKey(link.far), link.far);
      }
      await frame.run.pace.spend(1);
    }
    frontier = [...changed.values()];
  }
  const targets = await targetsAmong([...reached.values()], settings, frame);
  const paths: Path[] = [];
  for (const target of targets) await trace(target, reached, settings, paths, frame);
  return paths;
}

/** True where the vertex is now nearer than before. */
function relax(
  reached: Map<string, Reached>,
  from: string,
  distance: number,
  { edge, far }: Link,
  { distanceMax }: Settings,
): boolean {
  if (distance > distanceMax) return false;
  const key = addressKey(far);
  const known = reached.get(key);
  if (known !== undefined && known.distance < distance) return false;
  if (known !== undefined && known.distance === distance) {
    const isKnown = known.by.some(
      (each) => each.from === from && addressKey(each.edge) === addressKey(edge),
    );
    if (known.by.length > 0 && !isKnown) known.by.push({ from, edge });
    return false;
  }
  reached.set(key, { vertex: far, distance, by: [{ from, edge }] });
  return true;
}

async function targetsAmong(
  reached: readonly Reached[],
  { target }: Settings,
  frame: Frame,
): Promise<readonly Reached[]> {
  if (target === undefined) return reached;
  const results = await evaluate(
    target,
    reached.map(({ vertex }) => new Traverser(vertex)),
    frame,
  );
  return reached.filter((_, at) => (results[at]?.length ?? 0) > 0);
}

/** Adds all ways that end at the vertex. */
async function trace(
  target: Reached,
  reached: ReadonlyMap<string, Reached>,
  { includesEdges }: Settings,
  paths: Path[],
  { run }: Frame,
): Promise<void> {
  type Way = { readonly at: Reached; readonly objects: readonly GremlinValue[] };
  const waiting: Way[] = [{ at: target, objects: [target.vertex] }];
  for (let way = waiting.pop(); way !== undefined; way = waiting.pop()) {
    await run.pace.spend(1);
    if (way.at.by.length === 0) {
      paths.push(
        new Path(
          way.objects,
          way.objects.map(() => new Set()),
        ),
      );
      run.pace.hold(1);
      continue;
    }
    for (const { from, edge } of way.at.by) {
      const before = reached.get(from) as Reached;
      const objects = includesEdges
        ? [before.vertex, edge, ...way.objects]
        : [before.vertex, ...way.objects];
      waiting.push({ at: before, objects });
    }
  }
}
