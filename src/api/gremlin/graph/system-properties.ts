/** Properties that the server keeps in documents: a test may name them, and a strategy shows them on elements. */
import type { Value, ValueMap } from '../../../value/index.ts';
import { Edge, Vertex, VertexProperty } from '../model/elements.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Flavour } from './flavour.ts';

/** Names that the NoSQL API sets. */
export const SYSTEM_FIELDS: ReadonlySet<string> = new Set([
  '_rid',
  '_self',
  '_etag',
  '_attachments',
  '_ts',
  '_lsn',
]);

/** Where an edge and its target lie, as the service names it. */
const EDGE_PLACES: Readonly<Record<string, (edge: Edge) => Value>> = {
  inVPartition: ({ inVertex }) => inVertex.partition,
  outVPartition: ({ outVertex }) => outVertex.partition,
};

/** The graph with system properties on its elements. They are never written. */
export function withSystemProperties(flavour: Flavour, names: readonly string[]): Flavour {
  if (names.length === 0 || flavour.kind !== 'service') return flavour;
  const shown = new Set(names.filter((name) => SYSTEM_FIELDS.has(name)));
  const fillVertex = (vertex: Vertex, document: ValueMap): void => {
    flavour.fillVertex(vertex, document);
    addTo(vertex, document, shown);
  };
  const hasName = ([key]: readonly [string, unknown]): boolean => !names.includes(key);
  return {
    ...flavour,
    fillVertex,
    vertexOf: (document) => {
      const vertex = flavour.vertexOf(document);
      addTo(vertex, document, shown);
      return vertex;
    },
    edgeOf: (document) => {
      const edge = flavour.edgeOf(document);
      for (const name of names) {
        const value = shown.has(name) ? document[name] : EDGE_PLACES[name]?.(edge);
        if (value !== undefined) edge.properties.set(name, value as GremlinValue);
      }
      return edge;
    },
    vertexDocument: (vertex) =>
      flavour.vertexDocument(
        new Vertex(
          vertex,
          vertex.label,
          new Map([...(vertex.properties ?? [])].filter(hasName)),
          vertex.stored,
        ),
      ),
    edgeDocument: (edge) =>
      flavour.edgeDocument(
        new Edge(
          edge,
          edge.label,
          { from: edge.outVertex, to: edge.inVertex },
          new Map([...edge.properties].filter(hasName)),
          edge.stored,
        ),
      ),
  };
}

function addTo(vertex: Vertex, document: ValueMap, shown: ReadonlySet<string>): void {
  for (const key of shown) {
    const value = document[key] as GremlinValue | undefined;
    if (value !== undefined)
      vertex.properties?.set(key, [
        new VertexProperty(vertex, { id: `${vertex.key}|${key}`, key, value }),
      ]);
  }
}
