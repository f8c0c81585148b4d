/** Making graphs. Body: `{"db": "social", "graph": "people", "partitionKey": "/city", "throughput": 1000}`. */
import { DomainError } from '../../base/index.ts';
import { DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import type { Service } from '../../service/index.ts';
import type { ValueMap } from '../../value/index.ts';

/** The partition key of graphs that keep it themselves: an edge lies with the vertex that it leaves. */
const OWN_KEY = '/_vertexId';

/** Characters that names of resources cannot have. */
const FORBIDDEN = /[/\\#?\t\n\r]/;

export async function createGraph(service: Service, body: ValueMap): Promise<object> {
  const { db, graph, partitionKey = OWN_KEY, throughput, autoscaleMax } = body;
  if (typeof db !== 'string' || typeof graph !== 'string' || graph === '' || FORBIDDEN.test(graph))
    throw new DomainError('invalidInput', 'db and graph are names.');
  if (typeof partitionKey !== 'string' || !/^\/[^/"[\]?*]+$/.test(partitionKey))
    throw new DomainError('invalidInput', 'partitionKey is the path of one property, as in /city.');
  if (partitionKey === '/id' || partitionKey === '/label')
    throw new DomainError(
      'invalidInput',
      `Partition key path ${partitionKey} is not supported for graphs.`,
    );
  if (throughput !== undefined && typeof throughput !== 'number')
    throw new DomainError('invalidInput', 'throughput is a number of RU/s.');
  if (autoscaleMax !== undefined && typeof autoscaleMax !== 'number')
    throw new DomainError('invalidInput', 'autoscaleMax is a number of RU/s.');
  const database = service.databases.find(db);
  if (database === undefined)
    throw new DomainError('databaseNotFound', `There is no database ${db}.`);
  const setting = settingOf(throughput, autoscaleMax);
  await service.containers.create(database.rid, {
    id: graph,
    partitionKey: { paths: [partitionKey], kind: 'Hash', version: 2 },
    home: 'gremlin',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    ...(setting === undefined ? {} : { throughput: setting }),
  });
  return { db, graph, partitionKey: partitionKey === OWN_KEY ? null : partitionKey };
}

function settingOf(throughput: number | undefined, autoscaleMax: number | undefined) {
  if (autoscaleMax !== undefined)
    return { kind: 'autoscale', requestUnitsMax: autoscaleMax } as const;
  return throughput === undefined
    ? undefined
    : ({ kind: 'manual', requestUnits: throughput } as const);
}
