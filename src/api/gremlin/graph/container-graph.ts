/** A graph in a container: look-ups in batches, merged with the writes of the traversal. */
import { ANYTHING, allOf, equalTo, term } from '../../../query/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import { compileError } from '../errors.ts';
import { GremlinSet } from '../model/collections.ts';
import {
  addressKey,
  Edge,
  type ElementAddress,
  type Property,
  Vertex,
  VertexProperty,
} from '../model/elements.ts';
import { isNumber, toDouble } from '../model/number.ts';
import type { GremlinValue } from '../model/value.ts';
import type { DocumentStore } from './document-store.ts';
import { ElementWrites } from './element-writes.ts';
import { type Flavour, isEdgeDocument } from './flavour.ts';
import {
  type Graph,
  ID_KEY,
  LABEL_KEY,
  type NewEdge,
  type NewProperty,
  type Pages,
  type Search,
} from './graph.ts';
import { documentCondition, namedValues, valuesNamed } from './search-condition.ts';
import { UnitOfWork } from './unit-of-work.ts';

type Kind = 'vertex' | 'edge';

/** What a look-up names: a document, wherever it may lie. */
interface Target {
  readonly partition: Value;
  readonly key: string;
}

export class ContainerGraph implements Graph {
  readonly #store: DocumentStore;
  readonly #flavour: Flavour;
  readonly #unit: UnitOfWork;
  readonly #writes: ElementWrites;
  /** Properties that algorithms have computed, by vertex. */
  readonly #computed = new Map<string, Map<string, GremlinValue>>();

  constructor(store: DocumentStore, flavour: Flavour) {
    this.#store = store;
    this.#flavour = flavour;
    this.#unit = new UnitOfWork(flavour);
    this.#writes = new ElementWrites(flavour, this.#unit);
  }

  get kind(): Flavour['kind'] {
    return this.#flavour.kind;
  }

  compute(vertex: Vertex, key: string, value: GremlinValue): void {
    const address = addressKey(vertex);
    const known = this.#computed.get(address) ?? new Map<string, GremlinValue>();
    known.set(key, value);
    this.#computed.set(address, known);
    this.#show(vertex);
  }

  /** Adds what was computed to the properties that are stored. */
  #show(vertex: Vertex): void {
    const computed = this.#computed.size === 0 ? undefined : this.#computed.get(addressKey(vertex));
    for (const [key, value] of computed ?? [])
      vertex.properties?.set(key, [
        new VertexProperty(vertex, { id: `${vertex.key}|${key}`, key, value }),
      ]);
  }

  /** The element with the writes of the traversal; nothing where it is dropped. */
  #seen<T extends Vertex | Edge>(element: T): T[] {
    const current = this.#unit.current(element);
    if (current instanceof Vertex) this.#show(current);
    return current === undefined ? [] : [current];
  }

  vertices(search: Search): Pages<Vertex> {
    return this.#elements(search, 'vertex', Vertex, (document) => this.#flavour.vertexOf(document));
  }

  edges(search: Search): Pages<Edge> {
    return this.#elements(search, 'edge', Edge, (document) => this.#flavour.edgeOf(document));
  }

  async count(kind: 'vertices' | 'edges', labels: readonly string[]): Promise<number | undefined> {
    // Documents of others may have no label: they count under the default ones.
    if (!this.#unit.isEmpty || labels.includes('vertex') || labels.includes('edge'))
      return undefined;
    const isEdge = term(['_isEdge'], [equalTo(true)]);
    const isLabelled = labels.length === 0 ? ANYTHING : term([LABEL_KEY], labels.map(equalTo));
    const edges = await this.#store.count(labels.length === 0 ? isEdge : allOf(isLabelled, isEdge));
    if (edges === undefined || kind === 'edges') return edges;
    const all = await this.#store.count(isLabelled);
    return all === undefined ? undefined : all - edges;
  }

  async *#elements<T extends Vertex | Edge>(
    search: Search,
    kind: Kind,
    type: new (...args: never[]) => T,
    read: (document: ValueMap) => T,
  ): Pages<T> {
    const targets = this.#targetsOf(search, kind);
    // A changed element may satisfy conditions that its stored document does not.
    const written = new Map<string, T>();
    for (const element of this.#unit.written(type, false))
      if (isTarget(element, targets)) written.set(addressKey(element), element);
    for await (const page of this.#documents(search, targets, kind)) {
      const found = page.flatMap((document) => this.#seen(read(document)));
      for (const element of found) written.delete(addressKey(element));
      if (found.length > 0) yield found;
    }
    if (written.size > 0) yield [...written.values()];
  }

  /** Undefined where any element may be found. */
  #targetsOf({ targets, conditions }: Search, kind: Kind): Target[] | undefined {
    if (targets !== undefined && targets.length > 0)
      return targets.flatMap((target) => this.#targetsIn(target, kind, true));
    // An id that a filter names is looked for as if the step had named it.
    const byId = conditions.find(
      ({ key, isProperty }) => key === ID_KEY && (!isProperty || this.kind === 'service'),
    );
    const named = byId === undefined ? undefined : valuesNamed(byId.condition);
    return named?.flatMap((target) => this.#targetsIn(target, kind, false));
  }

  /** One list of ids is the same as ids. Of two members it is a partition key and an id, as the service has it. */
  #targetsIn(value: GremlinValue, kind: Kind, mayBePair: boolean): Target[] {
    if (value === null) return [];
    if (value instanceof GremlinSet)
      return [...value].flatMap((member) => this.#targetsIn(member, kind, false));
    if (Array.isArray(value)) {
      if (value.length !== 2 || !mayBePair || this.kind === 'tinkerpop')
        return value.flatMap((member) => this.#targetsIn(member, kind, false));
      const [partition = null, id = null] = value;
      return [{ partition: partitionOf(partition), key: this.#keyOf(id, kind) }];
    }
    if (value instanceof Vertex || value instanceof Edge)
      return value.partition === undefined
        ? this.#targetsIn(value.id, kind, false)
        : [{ partition: value.partition, key: value.key }];
    const key = this.#keyOf(value, kind);
    return [{ key, partition: kind === 'vertex' ? this.#flavour.partitionOfKey(key) : undefined }];
  }

  #keyOf(id: GremlinValue, kind: Kind): string {
    return kind === 'vertex' ? this.#flavour.vertexKey(id) : this.#flavour.edgeKey(id);
  }

  async *#documents(search: Search, targets: readonly Target[] | undefined, kind: Kind) {
    const isWanted = (document: ValueMap): boolean =>
      isEdgeDocument(document) === (kind === 'edge');
    if (targets?.length === 0) return;
    const partitions = this.#partitionsOf(search);
    const addresses = targets === undefined ? undefined : addressesOf(targets, partitions);
    if (addresses !== undefined) {
      const documents = await this.#store.read(addresses);
      yield documents.flatMap((document) =>
        document !== undefined && isWanted(document) ? [document] : [],
      );
      return;
    }
    const keys = targets === undefined ? undefined : new Set(targets.map(({ key }) => key));
    const condition = allOf(
      documentCondition(search.conditions, kind, this.#flavour),
      keys === undefined ? ANYTHING : term([ID_KEY], [...keys].map(equalTo)),
      kind === 'edge' ? term(['_isEdge'], [equalTo(true)]) : ANYTHING,
    );
    const ranges = partitions === undefined ? undefined : this.#store.rangesOf(partitions);
    yield* this.#store.find(
      condition,
      (document) => isWanted(document) && (keys === undefined || keys.has(String(document.id))),
      { ranges, take: search.take },
    );
  }

  /** The partition keys that the conditions name; undefined where they name none. */
  #partitionsOf({ conditions }: Search): readonly Value[] | undefined {
    for (const { key, condition } of conditions) {
      const named = key === this.#flavour.partitionProperty ? namedValues(condition) : undefined;
      if (named !== undefined) return named;
    }
    return undefined;
  }

  edgesOf(
    vertices: readonly Vertex[],
    direction: 'out' | 'in',
    labels: readonly string[],
  ): Pages<Edge> {
    return this.#edgesOf(vertices, direction, labels, false);
  }

  async *#edgesOf(
    vertices: readonly Vertex[],
    direction: 'out' | 'in',
    labels: readonly string[],
    isBeyondReach: boolean,
  ): Pages<Edge> {
    const near = direction === 'out' ? 'outVertex' : 'inVertex';
    const keys = new Set(vertices.map(addressKey));
    const added = this.#unit
      .written(Edge, true)
      .filter(
        (edge) =>
          keys.has(addressKey(edge[near])) && (labels.length === 0 || labels.includes(edge.label)),
      );
    // Vertices that are only in this traversal have no stored edges.
    const stored = vertices.filter((vertex) => {
      const pending = this.#unit.at(vertex);
      return pending?.kind !== 'put' || !pending.isNew;
    });
    if (stored.length > 0) yield* this.#storedEdges(stored, direction, labels, isBeyondReach);
    if (added.length > 0) yield added;
  }

  async *#storedEdges(
    vertices: readonly Vertex[],
    direction: 'out' | 'in',
    labels: readonly string[],
    isBeyondReach: boolean,
  ): Pages<Edge> {
    const field = direction === 'out' ? '_vertexId' : '_sink';
    const ids = new Set(vertices.map(({ key }) => key));
    const condition = allOf(
      term(
        [field],
        [...ids].map((id) => equalTo(id)),
      ),
      labels.length === 0
        ? ANYTHING
        : term(
            [LABEL_KEY],
            labels.map((label) => equalTo(label)),
          ),
    );
    const ranges =
      direction === 'out'
        ? this.#store.rangesOf(vertices.map(({ partition }) => partition))
        : undefined;
    const isWanted = (document: ValueMap): boolean =>
      isEdgeDocument(document) &&
      ids.has(String(document[field])) &&
      (labels.length === 0 || labels.includes(String(document.label)));
    for await (const page of this.#store.find(condition, isWanted, { ranges, isBeyondReach })) {
      const edges = page.flatMap((document) => this.#seen(this.#flavour.edgeOf(document)));
      if (edges.length > 0) yield edges;
    }
  }

  async load(references: readonly Vertex[]): Promise<void> {
    const unread = new Map<string, Vertex[]>();
    for (const vertex of references) {
      if (vertex.properties !== undefined) continue;
      const pending = this.#unit.at(vertex);
      if (pending?.kind === 'delete') continue;
      if (pending !== undefined) {
        vertex.properties = (pending.element as Vertex).properties;
        vertex.stored = pending.element.stored;
        continue;
      }
      const key = addressKey(vertex);
      const same = unread.get(key);
      if (same === undefined) unread.set(key, [vertex]);
      else same.push(vertex);
    }
    const groups = [...unread.values()];
    if (groups.length === 0) return;
    const documents = await this.#store.read(groups.map(([first]) => first as Vertex));
    for (const [at, group] of groups.entries()) {
      const document = documents[at];
      if (document === undefined || isEdgeDocument(document)) continue;
      for (const vertex of group) {
        this.#flavour.fillVertex(vertex, document);
        this.#show(vertex);
      }
    }
  }

  addVertex(label: string, properties: readonly NewProperty[]): Vertex {
    return this.#writes.addVertex(label, properties);
  }

  addEdge(edge: NewEdge): Edge {
    return this.#writes.addEdge(edge);
  }

  setProperty(element: Vertex | Edge | VertexProperty, property: NewProperty): void {
    this.#writes.setProperty(element, property);
  }

  current<T extends Vertex | Edge>(element: T): T {
    return this.#writes.current(element);
  }

  async drop(elements: readonly (Vertex | Edge | VertexProperty | Property)[]): Promise<void> {
    const vertices = elements.filter((element) => element instanceof Vertex);
    await this.load(vertices);
    for (const direction of ['out', 'in'] as const)
      if (vertices.length > 0)
        // An edge that stayed because the caller may not reach it would lead nowhere.
        for await (const edges of this.#edgesOf(vertices, direction, [], true)) {
          const near = direction === 'out' ? 'outVertex' : 'inVertex';
          const keys = new Set(vertices.map(addressKey));
          for (const edge of edges) if (keys.has(addressKey(edge[near]))) this.#unit.drop(edge);
        }
    for (const element of elements)
      if (element instanceof Vertex || element instanceof Edge) {
        if (this.#unit.at(element)?.kind !== 'delete') this.#unit.drop(element);
      } else this.#writes.dropProperty(element);
  }

  /** Forgets the writes that are not committed. */
  rollback(): void {
    this.#unit.clear();
  }

  /** Applies all writes or none. */
  async commit(): Promise<void> {
    if (!this.#unit.isEmpty) await this.#store.commit(this.#unit.writes(), this.#unit.size);
  }
}

/** Where all partition keys are known, elements are read by their addresses. */
function addressesOf(
  targets: readonly Target[],
  partitions: readonly Value[] | undefined,
): ElementAddress[] | undefined {
  const addresses = new Map<string, ElementAddress>();
  for (const target of targets) {
    if (target.partition === undefined && partitions === undefined) return undefined;
    const found =
      target.partition === undefined
        ? (partitions ?? []).map((partition) => ({ partition, key: target.key }))
        : [target];
    for (const address of found) addresses.set(addressKey(address), address);
  }
  return [...addresses.values()];
}

function partitionOf(value: GremlinValue): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (isNumber(value)) return toDouble(value);
  throw compileError('A partition key is a text, a number or a boolean.');
}

function isTarget(element: Vertex | Edge, targets: readonly Target[] | undefined): boolean {
  return (
    targets === undefined ||
    targets.some(
      ({ key, partition }) =>
        key === element.key &&
        (partition === undefined || addressKey({ key, partition }) === addressKey(element)),
    )
  );
}
