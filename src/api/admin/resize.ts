/** Splits and merges on request: `{"db", "container", "partition", "by"}` and `{"db", "container", "partitions"}`. */
import { DomainError } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Service } from '../../service/index.ts';
import type { Value, ValueMap } from '../../value/index.ts';
import { namedContainer } from './reports/partitions.ts';

interface ResizeReport {
  readonly db: string;
  readonly container: string;
  readonly parents: readonly string[];
  readonly children: readonly string[];
}

/** Resolves when the move is done; requests are served meanwhile. */
export async function splitPartition(service: Service, body: ValueMap): Promise<ResizeReport> {
  const id = idOf(body.partition);
  if (id === undefined)
    throw new DomainError('invalidInput', 'partition is the id of the partition to split.');
  const { by = 'bytes' } = body;
  if (by !== 'bytes' && by !== 'heat')
    throw new DomainError('invalidInput', 'by is bytes or heat: what each half gets half of.');
  const cut = by === 'heat' ? 'heat' : 'betweenKeys';
  return resize(service, body, [id], (container) => service.resizer.split(container, id, cut));
}

export async function mergePartitions(service: Service, body: ValueMap): Promise<ResizeReport> {
  const { partitions } = body;
  const ids = (Array.isArray(partitions) ? partitions : []).map(idOf);
  if (ids.length < 2 || !ids.every((id) => id !== undefined) || new Set(ids).size < ids.length)
    throw new DomainError('invalidInput', 'partitions is a list of the ids of two or more.');
  return resize(service, body, ids, (container) => service.resizer.merge(container, ids));
}

async function resize(
  service: Service,
  body: ValueMap,
  parents: readonly string[],
  change: (container: ContainerRecord) => Promise<readonly string[]>,
): Promise<ResizeReport> {
  const names = new URLSearchParams();
  for (const name of ['db', 'container'])
    if (typeof body[name] === 'string') names.set(name, body[name]);
  const { database, container } = namedContainer(service, names);
  const children = await change(container);
  return { db: database.id, container: container.id, parents, children };
}

/** A number as text, or as a number. */
function idOf(value: Value): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d+$/.test(text) ? text : undefined;
}
