/** Finds the container that a login names, and opens it as a graph. */
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Service } from '../../../service/index.ts';
import { parsePartitionKeyPath } from '../../../value/index.ts';
import { graphNotFound, runtimeError } from '../errors.ts';
import type { Flavour } from './flavour.ts';
import { serviceFlavour } from './service-documents.ts';
import { TYPED_FLAVOUR, VERTEX_ID_FIELD } from './typed-documents.ts';

interface OpenedGraph {
  readonly container: ContainerRecord;
  readonly flavour: Flavour;
}

const GRAPH_PATH = /^\/?dbs\/([^/]+)\/colls\/([^/]+)\/?$/;

/** The path is `/dbs/<database>/colls/<graph>`, as clients of the service send it as user name. */
export function openGraph({ databases, containers, homes }: Service, path: string): OpenedGraph {
  const [, databaseId = '', graphId = ''] = GRAPH_PATH.exec(path) ?? [];
  const database = databases.find(databaseId);
  const container = database === undefined ? undefined : containers.find(database, graphId);
  if (container === undefined) throw graphNotFound();
  if (homes.of(container).image !== undefined || container.encoding !== 'json')
    throw runtimeError('The container belongs to another API and cannot be opened as a graph.');
  const partitionKey = partitionKeyOf(container);
  const flavour = partitionKey === VERTEX_ID_FIELD ? TYPED_FLAVOUR : serviceFlavour(partitionKey);
  return { container, flavour };
}

function partitionKeyOf({ partitionKey }: ContainerRecord): string {
  const [path = '', ...others] = partitionKey.paths;
  const steps = parsePartitionKeyPath(path) ?? [];
  const [name] = steps;
  if (others.length > 0 || steps.length !== 1 || typeof name !== 'string')
    throw runtimeError(
      'A graph needs a partition key of one property at the top of its documents.',
    );
  if (name === 'id' || name === 'label')
    throw runtimeError(`Partition key path /${name} is not supported for graphs.`);
  return name;
}
