/** Vertices and edges, drawn by forces. Colour is the partition; edges between partitions are dashed. */
import {
  forceCenter,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { partitionColor } from '../../lib/colors.ts';
import { short } from '../../lib/format.ts';
import { useWidth } from '../../lib/width.ts';

export interface GraphProps {
  readonly rows: readonly unknown[];
  /** Partition by vertex. */
  readonly partitions: Readonly<Record<string, string>>;
  readonly onExpand: (traversal: string) => void;
}

const NODES_MAX = 500;
const HEIGHT = 460;
const RADIUS = 9;
const TICKS = 200;

interface Node extends SimulationNodeDatum {
  readonly id: string;
  readonly label: string;
  readonly partition: string | undefined;
}

interface Edge {
  readonly source: Node;
  readonly target: Node;
  readonly label: string;
}

interface Graph {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly leftOut: number;
}

export function GraphView({ rows, partitions, onExpand }: GraphProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const graph = useMemo(
    () => (width === 0 ? undefined : layout(graphOf(rows, partitions), width)),
    [rows, partitions, width],
  );
  const [chosen, setChosen] = useState<Node>();
  useEffect(() => {
    if (canvas.current !== null && graph !== undefined) draw(canvas.current, graph, width, chosen);
  });
  const nodeAt = (event: MouseEvent): Node | undefined =>
    graph?.nodes.find(
      ({ x = 0, y = 0 }) => Math.hypot(x - event.offsetX, y - event.offsetY) < RADIUS * 1.6,
    );
  const expand = (node: Node | undefined): void => {
    if (node !== undefined)
      onExpand(`g.V(${quoted(node.id)}).bothE().limit(50).union(identity(), otherV())`);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const nodes = graph?.nodes ?? [];
    const at = nodes.findIndex(({ id }) => id === chosen?.id);
    if (event.key === 'ArrowRight') setChosen(nodes[(at + 1) % nodes.length]);
    else if (event.key === 'ArrowLeft') setChosen(nodes[(at - 1 + nodes.length) % nodes.length]);
    else if (event.key === 'Enter') expand(chosen);
    else return;
    event.preventDefault();
  };
  const crossing =
    graph?.edges.filter(({ source, target }) => source.partition !== target.partition).length ?? 0;
  return (
    <>
      <div
        class="graph"
        ref={frame}
        role="group"
        tabIndex={0}
        aria-label="Graph: arrows choose a vertex, Enter expands it"
        onKeyDown={onKeyDown}
      >
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${graph?.nodes.length ?? 0} vertices and ${graph?.edges.length ?? 0} edges, ${crossing} between partitions`}
          onClick={(event) => setChosen(nodeAt(event))}
          onDblClick={(event) => expand(nodeAt(event))}
        />
      </div>
      <p class="muted" role="status">
        {graph?.nodes.length ?? 0} vertices, {graph?.edges.length ?? 0} edges, {crossing} of them
        between partitions (dashed).
        {graph !== undefined && graph.leftOut > 0 && ` ${graph.leftOut} vertices are left out.`}{' '}
        Double click or Enter expands a vertex.
        {chosen !== undefined &&
          ` Chosen: ${short(chosen.label, 40)} ${short(chosen.id, 60)}, partition ${chosen.partition ?? 'not known'}.`}
      </p>
    </>
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

interface Element {
  readonly type?: string;
  readonly id?: unknown;
  readonly label?: string;
  readonly inV?: unknown;
  readonly outV?: unknown;
}

function graphOf(rows: readonly unknown[], partitions: Readonly<Record<string, string>>): Graph {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  let leftOut = 0;
  const node = (id: unknown, label: string): Node | undefined => {
    const name = String(id);
    const known = nodes.get(name);
    if (known !== undefined && known.label !== '') return known;
    if (known === undefined && nodes.size >= NODES_MAX) {
      leftOut++;
      return undefined;
    }
    const made: Node =
      known === undefined
        ? { id: name, label, partition: partitions[name] }
        : Object.assign(known, { label });
    nodes.set(name, made);
    return made;
  };
  const elements = rows.filter((row): row is Element => typeof row === 'object' && row !== null);
  for (const { type, id, label = '' } of elements) if (type === 'vertex') node(id, label);
  for (const { type, id, label = '', inV, outV } of elements) {
    if (type !== 'edge') continue;
    const source = node(outV, '');
    const target = node(inV, '');
    if (source !== undefined && target !== undefined)
      edges.set(String(id), { source, target, label });
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()], leftOut };
}

function layout(graph: Graph, width: number): Graph {
  const nodes = [...graph.nodes];
  const simulation = forceSimulation(nodes)
    .force('charge', forceManyBody().strength(-160))
    .force(
      'link',
      forceLink(graph.edges.map(({ source, target }) => ({ source, target }))).distance(70),
    )
    .force('collide', forceCollide(RADIUS * 1.7))
    .force('x', forceX(width / 2).strength(0.05))
    .force('y', forceY(HEIGHT / 2).strength(0.09))
    .force('center', forceCenter(width / 2, HEIGHT / 2))
    .stop();
  simulation.tick(Math.min(TICKS, Math.ceil(60_000 / Math.max(1, nodes.length))));
  for (const node of nodes) {
    node.x = Math.min(width - 20, Math.max(20, node.x ?? 0));
    node.y = Math.min(HEIGHT - 20, Math.max(20, node.y ?? 0));
  }
  return graph;
}

function draw(
  canvas: HTMLCanvasElement,
  { nodes, edges }: Graph,
  width: number,
  chosen: Node | undefined,
): void {
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = HEIGHT * ratio;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const ink = getComputedStyle(canvas).color;
  context.scale(ratio, ratio);
  context.font = '11px system-ui';
  context.strokeStyle = ink;
  context.globalAlpha = 0.45;
  for (const { source, target } of edges) {
    context.setLineDash(source.partition === target.partition ? [] : [5, 4]);
    context.beginPath();
    context.moveTo(source.x ?? 0, source.y ?? 0);
    context.lineTo(target.x ?? 0, target.y ?? 0);
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
  for (const { id, x = 0, y = 0, partition } of nodes) {
    context.fillStyle = partition === undefined ? '#9aa3ad' : partitionColor(partition);
    context.beginPath();
    context.arc(x, y, RADIUS, 0, 2 * Math.PI);
    context.fill();
    if (id === chosen?.id) {
      context.lineWidth = 3;
      context.stroke();
      context.lineWidth = 1;
    }
    if (nodes.length <= 80) {
      context.fillStyle = ink;
      context.fillText(short(id, 18), x + RADIUS + 3, y + 4);
    }
  }
}
