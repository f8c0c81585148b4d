/** The merge of an entity as a named updater. Its arguments are the text of the entity that was sent. */
import type { Bytes } from '../../../base/index.ts';
import type { Item, NewBody, Updater, Updaters } from '../../../partition/index.ts';
import {
  type Entity,
  entityValue,
  type NamedProperty,
  printEntity,
  readEntity,
} from '../../../value/index.ts';
import { TableError } from '../errors.ts';
import { PROPERTIES_MAX } from '../limits.ts';
import { checkEntitySize } from './entity-body.ts';

export const MERGE = 'table.merge';

const mergeUpdater: Updater = ([current], args) => ({
  kind: 'put',
  ...newBody(merged(current, readEntity(args))),
});

export const tableUpdaters: Updaters = { [MERGE]: mergeUpdater };

export function mergeArguments(entity: Entity): Bytes {
  return Buffer.from(printEntity(entity), 'utf8');
}

export function newBody(entity: Entity): NewBody {
  const body = Buffer.from(printEntity(entity), 'utf8');
  checkEntitySize(body);
  return { body, value: entityValue(entity), ttlSec: 0 };
}

/** Properties that were sent replace stored ones; the others stay. */
function merged(current: Item | undefined, entity: Entity): Entity {
  if (current === undefined) return entity;
  const byName = new Map<string, NamedProperty>();
  for (const named of readEntity(current.body).properties) byName.set(named.name, named);
  for (const named of entity.properties) byName.set(named.name, named);
  if (byName.size > PROPERTIES_MAX) throw new TableError('TooManyProperties');
  return { ...entity, properties: [...byName.values()] };
}
