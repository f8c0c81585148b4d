/** Elements of a graph as a traversal sees them. */
import type { Value } from '../../../value/index.ts';
import type { GremlinValue } from './value.ts';

/** Identifies a vertex or an edge: its partition key value and the key of its document. */
export interface ElementAddress {
  readonly partition: Value;
  readonly key: string;
}

export class Property {
  readonly key: string;
  readonly value: GremlinValue;
  readonly element: Element;

  constructor(key: string, value: GremlinValue, element: Element) {
    this.key = key;
    this.value = value;
    this.element = element;
  }
}

export class VertexProperty {
  readonly id: GremlinValue;
  readonly key: string;
  readonly value: GremlinValue;
  readonly vertex: Vertex;
  /** Properties of the property. */
  readonly meta: Map<string, GremlinValue>;

  constructor(
    vertex: Vertex,
    {
      id,
      key,
      value,
      meta,
    }: Pick<VertexProperty, 'id' | 'key' | 'value'> & {
      readonly meta?: Map<string, GremlinValue>;
    },
  ) {
    this.vertex = vertex;
    this.id = id;
    this.key = key;
    this.value = value;
    this.meta = meta ?? new Map();
  }
}

/** Where an element is stored, and the stored version that a write depends on. */
interface Stored {
  /** The etag of the document; undefined before the first commit, and in references. */
  readonly etag?: string | undefined;
  /** Properties of the document that this API does not show, kept when it is written again. */
  readonly others?: Readonly<Record<string, Value>> | undefined;
  /** Where the system properties are, which tests may name. */
  readonly system?: Readonly<Record<string, Value>> | undefined;
}

/** A vertex, or a reference to one: what an edge knows of it. */
export class Vertex {
  readonly id: GremlinValue;
  readonly key: string;
  readonly label: string;
  readonly partition: Value;
  /** Undefined in a reference. */
  properties: Map<string, VertexProperty[]> | undefined;
  stored: Stored;
  /** Made when it is first asked for: many steps compare elements by it. */
  addressText: string | undefined;

  constructor(
    address: ElementAddress & { readonly id: GremlinValue },
    label: string,
    properties: Map<string, VertexProperty[]> | undefined,
    stored: Stored = {},
  ) {
    this.id = address.id;
    this.key = address.key;
    this.partition = address.partition;
    this.label = label;
    this.properties = properties;
    this.stored = stored;
  }
}

export class Edge {
  readonly id: GremlinValue;
  readonly key: string;
  readonly label: string;
  readonly outVertex: Vertex;
  readonly inVertex: Vertex;
  readonly properties: Map<string, GremlinValue>;
  stored: Stored;
  addressText: string | undefined;

  constructor(
    { id, key }: { readonly id: GremlinValue; readonly key: string },
    label: string,
    ends: { readonly from: Vertex; readonly to: Vertex },
    properties: Map<string, GremlinValue>,
    stored: Stored = {},
  ) {
    this.id = id;
    this.key = key;
    this.label = label;
    this.outVertex = ends.from;
    this.inVertex = ends.to;
    this.properties = properties;
    this.stored = stored;
  }

  /** An edge lies with its source. */
  get partition(): Value {
    return this.outVertex.partition;
  }
}

export type Element = Vertex | Edge | VertexProperty;

export class Path {
  readonly objects: readonly GremlinValue[];
  readonly labels: readonly ReadonlySet<string>[];

  constructor(objects: readonly GremlinValue[], labels: readonly ReadonlySet<string>[]) {
    this.objects = objects;
    this.labels = labels;
  }
}

/** The same text for the same vertex or edge. */
export function addressKey(address: ElementAddress | Vertex | Edge): string {
  if ('addressText' in address) {
    address.addressText ??= addressText(address);
    return address.addressText;
  }
  return addressText(address);
}

function addressText({ partition, key }: ElementAddress): string {
  return JSON.stringify([partition === undefined ? [] : partition, key]);
}
