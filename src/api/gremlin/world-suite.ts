/** A graph in memory for unit tests: the six people and programs that the language's own documentation uses. */
import { assert, seededRandom, systemClock } from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { DEFAULT_SETTINGS, openService, type Service } from '../../service/index.ts';
import { Evaluation } from './evaluation.ts';
import type { StoreUsage } from './graph/document-store.ts';
import { gremlinHome } from './home.ts';
import { parseScript } from './language/script-parser.ts';
import { GremlinMap, GremlinSet } from './model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from './model/elements.ts';
import { isNumber, toDouble } from './model/number.ts';
import { EnumValue } from './model/terms.ts';
import type { GremlinValue } from './model/value.ts';

const PEOPLE = `
g.addV('person').property('id','marko').property('pk','a').property('name','marko').property('age',29)
 .addV('person').property('id','vadas').property('pk','b').property('name','vadas').property('age',27)
 .addV('software').property('id','lop').property('pk','c').property('name','lop').property('lang','java')
 .addV('person').property('id','josh').property('pk','d').property('name','josh').property('age',32)
 .addV('software').property('id','ripple').property('pk','a').property('name','ripple').property('lang','java')
 .addV('person').property('id','peter').property('pk','b').property('name','peter').property('age',35);
g.V('marko').addE('knows').to(V('vadas')).property('id','7').property('weight',0.5);
g.V('marko').addE('knows').to(V('josh')).property('id','8').property('weight',1.0);
g.V('marko').addE('created').to(V('lop')).property('id','9').property('weight',0.4);
g.V('josh').addE('created').to(V('ripple')).property('id','10').property('weight',1.0);
g.V('josh').addE('created').to(V('lop')).property('id','11').property('weight',0.4);
g.V('peter').addE('created').to(V('lop')).property('id','12').property('weight',0.2)`;

export class World {
  readonly service: Service;
  readonly #engine: Engine;
  /** Usage of the last script. */
  usage: StoreUsage = { charge: 0, partitionCalls: 0, documentsLoaded: 0, bytesLoaded: 0 };

  constructor(service: Service, engine: Engine) {
    this.service = service;
    this.#engine = engine;
  }

  get container(): ContainerRecord {
    const database = this.service.databases.find('db');
    const container = database && this.service.containers.find(database, 'graph');
    assert(container !== undefined, 'the graph exists');
    return container;
  }

  /** The results of a script. */
  async run(script: string, variables: Record<string, GremlinValue> = {}): Promise<GremlinValue[]> {
    const evaluation = new Evaluation(this.service, {
      statements: parseScript(script, new Map(Object.entries(variables))),
      graphPath: '/dbs/db/colls/graph',
      mayWrite: true,
      hasBulk: false,
      timeoutMs: undefined,
      isCancelled: () => false,
    });
    const results: GremlinValue[] = [];
    try {
      for await (const batch of evaluation.results()) results.push(...batch);
    } finally {
      this.usage = evaluation.usage;
    }
    return results;
  }

  /** The results as plain values, with elements as texts. */
  async plain(script: string, variables: Record<string, GremlinValue> = {}): Promise<unknown[]> {
    return (await this.run(script, variables)).map(plain);
  }

  /** Splits a partition until the graph has so many. */
  async splitTo(partitions: number): Promise<void> {
    while (this.container.partitions.length < partitions) {
      const [first] = this.service.containers.routes(this.container);
      assert(first !== undefined, 'a container has partitions');
      await this.service.resizer.split(this.container, first.partition.id, 'anywhere');
    }
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.#engine.close();
  }
}

export async function openWorld({
  hasPeople = true,
  engine = memoryEngine() as Engine,
} = {}): Promise<World> {
  const service = await openService({
    engine,
    clock: systemClock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [gremlinHome],
  });
  const { rid } = await service.databases.create('db', undefined);
  await service.containers.create(rid, {
    id: 'graph',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'gremlin',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: { kind: 'manual', requestUnits: 1000 },
  });
  const world = new World(service, engine);
  if (hasPeople) await world.run(PEOPLE);
  return world;
}

export function plain(value: GremlinValue): unknown {
  if (isNumber(value)) return toDouble(value);
  if (value instanceof Vertex) return `v[${value.id}]`;
  if (value instanceof Edge) return `e[${value.outVertex.id}-${value.label}->${value.inVertex.id}]`;
  if (value instanceof VertexProperty) return `vp[${value.key}->${plain(value.value)}]`;
  if (value instanceof Property) return `p[${value.key}->${plain(value.value)}]`;
  if (value instanceof Path) return value.objects.map(plain);
  if (value instanceof EnumValue) return `${value.type}.${value.name}`;
  if (value instanceof GremlinMap)
    return Object.fromEntries([...value].map(([key, each]) => [String(plain(key)), plain(each)]));
  if (value instanceof GremlinSet) return { set: [...value].map(plain) };
  return Array.isArray(value) ? value.map(plain) : value;
}
