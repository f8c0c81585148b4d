/** Traversals of the Gremlin API. Vertices come with the partition that has them. */
import type { ContainerRecord } from '../../catalog/index.ts';
import type { AccountKeys, Service } from '../../service/index.ts';
import { epkToHex, type Value } from '../../value/index.ts';
import { askGremlin, type OpenGremlin } from '../local/gremlin-client.ts';
import type { Runner } from './runner.ts';

export function gremlinRunner(open: OpenGremlin, keys: AccountKeys, service: Service): Runner {
  return async ({ db, container, text, limit, mayWrite, signal }) => {
    const page = await askGremlin(open, {
      graphPath: `/dbs/${db}/colls/${container}`,
      key: keys.get(mayWrite ? 'primary' : 'primaryReadonly'),
      text,
      limit,
      signal,
    });
    const database = service.databases.find(db);
    const record = database && service.containers.find(database, container);
    return {
      rows: page.rows.map((row) => JSON.stringify(row)),
      charge: page.charge,
      continuation: undefined,
      warnings: page.isCut ? [`Only the first ${limit} results were read.`] : [],
      vertexPartitions: record === undefined ? {} : partitionsOf(service, record, page.rows),
    };
  };
}

interface Element {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly properties?: Readonly<Record<string, readonly { readonly value: Value }[]>>;
}

function partitionsOf(
  service: Service,
  container: ContainerRecord,
  rows: readonly unknown[],
): Readonly<Record<string, string>> {
  const found: [string, string][] = [];
  const routes = service.containers.routes(container);
  const [path = ''] = container.partitionKey.paths;
  for (const row of rows) {
    const { type, id, properties } = (row ?? {}) as Element;
    if (type !== 'vertex') continue;
    const key = path === '/id' ? (id as Value) : properties?.[path.slice(1)]?.[0]?.value;
    const hash = epkToHex(service.items.epkOf(container, [key]));
    const route = routes.find(({ partition }) => partition.min <= hash && hash < partition.max);
    if (route !== undefined) found.push([String(id), route.partition.id]);
  }
  return Object.fromEntries(found);
}
