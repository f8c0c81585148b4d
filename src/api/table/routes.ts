/** Which operation a request is: resource, verb, and for the service and tables the query. */
import type { Call, Operation } from './call.ts';
import { readEntityByKey, writeEntity } from './entities.ts';
import { TableError } from './errors.ts';
import { queryEntities } from './queries.ts';
import { createTable, deleteTable, listTables } from './tables.ts';

export function operationOf({ target, method }: Call): Operation {
  const { resource } = target;
  switch (resource.kind) {
    case 'tables':
      if (method === 'GET') return listTables;
      if (method === 'POST') return createTable;
      break;
    case 'table':
      if (method === 'DELETE') return (call) => deleteTable(call, resource.table);
      break;
    case 'entities':
      if (method === 'GET') return (call) => queryEntities(call, resource.table);
      if (method === 'POST') return (call) => writeEntity(call, resource);
      break;
    case 'entity':
      if (method === 'GET') return (call) => readEntityByKey(call, resource.table, resource);
      if (method !== 'POST') return (call) => writeEntity(call, resource);
      break;
    default:
      throw new TableError('NotImplemented');
  }
  throw new TableError('UnsupportedHttpVerb');
}
