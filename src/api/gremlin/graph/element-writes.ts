/** Writes of a traversal to elements: what they become, in the unit of work. */
import { randomUUID } from 'node:crypto';
import { runtimeError } from '../errors.ts';
import { keyText } from '../io/key-text.ts';
import { Edge, type Property, Vertex, VertexProperty } from '../model/elements.ts';
import { areEqual } from '../model/equality.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Flavour } from './flavour.ts';
import { isIdProperty, LABEL_KEY, type NewEdge, type NewProperty } from './graph.ts';
import { plainProperty, toStored } from './service-documents.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** The property that the service stores plainly, because it acts on it. */
const TTL_KEY = 'ttl';

export class ElementWrites {
  readonly #flavour: Flavour;
  readonly #unit: UnitOfWork;

  constructor(flavour: Flavour, unit: UnitOfWork) {
    this.#flavour = flavour;
    this.#unit = unit;
  }

  addVertex(label: string, properties: readonly NewProperty[]): Vertex {
    const { partitionProperty } = this.#flavour;
    const id = this.#idIn(properties);
    const key = this.#flavour.vertexKey(id);
    const vertex = new Vertex(
      { ...this.#partitionFor(key, properties), id, key },
      label,
      new Map(),
    );
    if (partitionProperty !== undefined)
      vertex.properties?.set(partitionProperty, [
        plainProperty(vertex, partitionProperty, vertex.partition as GremlinValue),
      ]);
    for (const property of properties)
      if (!this.#isId(property) && property.key !== partitionProperty)
        this.#putProperty(vertex, this.#withDefault(property));
    this.#unit.add(vertex);
    return vertex;
  }

  /** A property that is given twice to a new vertex has both values, where graphs have several under a key. */
  #withDefault(property: NewProperty): NewProperty {
    const isListed = property.cardinality === undefined && this.#flavour.kind === 'tinkerpop';
    return isListed ? { ...property, cardinality: 'list' } : property;
  }

  #partitionFor(key: string, properties: readonly NewProperty[]): Pick<Vertex, 'partition'> {
    const { partitionProperty } = this.#flavour;
    if (partitionProperty === undefined) return { partition: this.#flavour.partitionOfKey(key) };
    const value = properties.findLast((property) => property.key === partitionProperty)?.value;
    if (value === undefined || value === null)
      throw runtimeError(
        `Cannot add a vertex where the partition key property has value 'null'. The property is '${partitionProperty}'.`,
      );
    return { partition: toStored(value) };
  }

  #isId(property: NewProperty): boolean {
    return isIdProperty(property, this.#flavour.kind);
  }

  /** The id of a new element; one that is not given is a random UUID. */
  #idIn(properties: readonly NewProperty[]): GremlinValue {
    const given = properties.findLast((property) => this.#isId(property))?.value;
    if (given === undefined) return randomUUID();
    return this.#flavour.kind === 'service' ? this.#flavour.vertexKey(given) : given;
  }

  addEdge({ label, from, to, properties }: NewEdge): Edge {
    const values = new Map<string, GremlinValue>();
    for (const property of properties) {
      const { key, value } = property;
      if (this.#isId(property)) continue;
      if (this.#removesNull(value)) continue;
      this.#checkEdgeProperty(key, value);
      values.set(key, value);
    }
    const id = this.#idIn(properties);
    const edge = new Edge({ id, key: this.#flavour.edgeKey(id) }, label, { from, to }, values);
    this.#unit.add(edge);
    return edge;
  }

  /** Graphs without a partition key take null for "no property". */
  #removesNull(value: GremlinValue): boolean {
    return value === null && this.#flavour.kind === 'tinkerpop';
  }

  #checkEdgeProperty(key: string, value: GremlinValue): void {
    this.#flavour.checkProperty(key, value, true);
    if (key === this.#flavour.partitionProperty)
      throw runtimeError(
        `An edge lies with its source: it cannot have a property '${key}' of its own.`,
      );
  }

  setProperty(element: Vertex | Edge | VertexProperty, property: NewProperty): void {
    const { key, value } = property;
    if (this.#isId(property) || (key === LABEL_KEY && this.#flavour.kind === 'service'))
      throw runtimeError(`The ${key} of an element cannot be changed.`);
    if (element instanceof VertexProperty) this.#setMeta(element, key, value);
    else {
      const current = this.current(element);
      if (current instanceof Vertex) this.#setVertexProperty(current, property);
      else this.#setEdgeProperty(current as Edge, key, value);
      this.#unit.change(current);
    }
  }

  #setMeta(element: VertexProperty, key: string, value: GremlinValue): void {
    const vertex = this.current(element.vertex);
    const same =
      vertex.properties?.get(element.key)?.find(({ id }) => areEqual(id, element.id)) ?? element;
    if (this.#removesNull(value)) {
      same.meta.delete(key);
      element.meta.delete(key);
    } else {
      this.#flavour.checkProperty('meta', value, false);
      same.meta.set(key, value);
      element.meta.set(key, value);
    }
    this.#unit.change(vertex);
  }

  #setVertexProperty(vertex: Vertex, property: NewProperty): void {
    const { key, value } = property;
    if (key === this.#flavour.partitionProperty) {
      if (areEqual(value, vertex.properties?.get(key)?.[0]?.value ?? null)) return;
      throw runtimeError(`Updating the partition key property '${key}' is not supported.`);
    }
    this.#putProperty(vertex, property);
  }

  #setEdgeProperty(edge: Edge, key: string, value: GremlinValue): void {
    if (this.#removesNull(value)) edge.properties.delete(key);
    else {
      this.#checkEdgeProperty(key, value);
      edge.properties.set(key, value);
    }
  }

  #putProperty(vertex: Vertex, { cardinality, key, value, meta, id }: NewProperty): void {
    const { properties } = vertex;
    if (properties === undefined)
      throw runtimeError(`The vertex '${keyText(vertex.id)}' does not exist.`);
    if (this.#removesNull(value)) {
      if ((cardinality ?? 'single') === 'single') properties.delete(key);
      return;
    }
    this.#flavour.checkProperty(key, value, false);
    for (const each of meta.values()) this.#flavour.checkProperty('meta', each, false);
    const before = properties.get(key) ?? [];
    if (key === TTL_KEY && this.#flavour.kind === 'service') {
      properties.set(key, [plainProperty(vertex, key, value)]);
      return;
    }
    const same =
      cardinality === 'set' ? before.find((each) => areEqual(each.value, value)) : undefined;
    if (same !== undefined) {
      for (const [name, each] of meta) same.meta.set(name, each);
      return;
    }
    const added = new VertexProperty(vertex, {
      id: id ?? randomUUID(),
      key,
      value,
      meta: new Map(meta),
    });
    properties.set(key, (cardinality ?? 'single') === 'single' ? [added] : [...before, added]);
  }

  current<T extends Vertex | Edge>(element: T): T {
    const current = this.#unit.current(element);
    if (current === undefined)
      throw runtimeError(`The element '${keyText(element.id)}' has been dropped.`);
    return current;
  }

  dropProperty(property: VertexProperty | Property): void {
    const owner = property instanceof VertexProperty ? property.vertex : property.element;
    if (owner instanceof VertexProperty) {
      const vertex = this.current(owner.vertex);
      owner.meta.delete(property.key);
      vertex.properties
        ?.get(owner.key)
        ?.find(({ id }) => areEqual(id, owner.id))
        ?.meta.delete(property.key);
      this.#unit.change(vertex);
      return;
    }
    const current = this.#unit.current(owner);
    if (current === undefined) return;
    if (current instanceof Vertex && property instanceof VertexProperty) {
      if (property.key === this.#flavour.partitionProperty)
        throw runtimeError(`The partition key property '${property.key}' cannot be dropped.`);
      const left = (current.properties?.get(property.key) ?? []).filter(
        ({ id }) => !areEqual(id, property.id),
      );
      if (left.length === 0) current.properties?.delete(property.key);
      else current.properties?.set(property.key, left);
    } else if (current instanceof Edge) current.properties.delete(property.key);
    this.#unit.change(current);
  }
}
