/** The graph as steps need it: look-ups of many elements at once, and writes that are applied together at the end. */
import type { Edge, Property, Vertex, VertexProperty } from '../model/elements.ts';
import type { GremlinValue } from '../model/value.ts';

export type Pages<T> = AsyncIterable<readonly T[]>;

/** A property, or the id or label, and the predicate or value that it must satisfy. */
export interface SearchCondition {
  readonly key: string;
  readonly condition: GremlinValue;
  /** False for the id and the label themselves. */
  readonly isProperty: boolean;
}

/** Narrows what is read. Elements may come that do not satisfy the conditions: the steps test them again. */
export interface Search {
  /** Ids and elements, as the step has them; the service's graphs also know pairs of a key and an id. */
  readonly targets: readonly GremlinValue[] | undefined;
  readonly conditions: readonly SearchCondition[];
  /** So many elements are likely enough: pages need not be larger. */
  readonly take?: number | undefined;
}

export type Cardinality = 'single' | 'list' | 'set';

export interface NewProperty {
  /** Undefined for the default of the graph. */
  readonly cardinality: Cardinality | undefined;
  readonly key: string;
  readonly value: GremlinValue;
  readonly meta: ReadonlyMap<string, GremlinValue>;
  /** The id of the property itself, where it is given. */
  readonly id?: GremlinValue | undefined;
  /** True for T.id and T.label. */
  readonly isToken?: boolean | undefined;
}

/** The service's graphs take the property `id` for the id of the element. */
export function isIdProperty(
  { key, isToken }: NewProperty,
  kind: 'service' | 'tinkerpop',
): boolean {
  return key === ID_KEY && (isToken === true || kind === 'service');
}

export interface NewEdge {
  readonly label: string;
  readonly from: Vertex;
  readonly to: Vertex;
  readonly properties: readonly NewProperty[];
}

/** The conditions' name for the id and the label. */
export const ID_KEY = 'id';
export const LABEL_KEY = 'label';

export interface Graph {
  /** The service's graphs have a partition key; others have ids and values of any type. */
  readonly kind: 'service' | 'tinkerpop';
  vertices(search: Search): Pages<Vertex>;
  edges(search: Search): Pages<Edge>;
  /** The number of elements with any of the labels, as the index tells it; undefined where elements must be read. */
  count(kind: 'vertices' | 'edges', labels: readonly string[]): Promise<number | undefined>;
  /** Edges that leave or reach any of the vertices; with labels, only those. One call for each partition. */
  edgesOf(
    vertices: readonly Vertex[],
    direction: 'out' | 'in',
    labels: readonly string[],
  ): Pages<Edge>;
  /** Reads the properties of references. Those that do not exist stay references. One call for each partition. */
  load(references: readonly Vertex[]): Promise<void>;

  /** Writes are visible to later look-ups of the same graph, and to others after the commit. */
  addVertex(label: string, properties: readonly NewProperty[]): Vertex;
  addEdge(edge: NewEdge): Edge;
  setProperty(element: Vertex | Edge | VertexProperty, property: NewProperty): void;
  drop(elements: readonly (Vertex | Edge | VertexProperty | Property)[]): Promise<void>;
  /** A property that look-ups of this graph show from now on, without being stored. */
  compute(vertex: Vertex, key: string, value: GremlinValue): void;
  /** The state of an element with the writes of this traversal. */
  current<T extends Vertex | Edge>(element: T): T;
}
