/** Finds the operation of a request by resource, verb and, for the service and tables, the query. */

import { readPolicies, writePolicies } from './access/stored-policies.ts';
import { runBatch } from './batch/batch.ts';
import type { Call, RequestHandler } from './call.ts';
import { readEntityByKey, writeEntity } from './entities/entities.ts';
import { queryEntities } from './entities/queries.ts';
import { TableError } from './errors.ts';
import { refuseNested } from './nested.ts';
import type { Query } from './request.ts';
import { readProperties, readStatistics, writeProperties } from './service-properties.ts';
import { createTable, deleteTable, listTables, readTable } from './tables.ts';

export function handlerOf({ target, method }: Call): RequestHandler {
  const { resource } = target;
  switch (resource.kind) {
    case 'service':
      return serviceHandler(target.query, method);
    case 'batch':
      if (method === 'POST') return runBatch;
      break;
    case 'tables':
      if (method === 'GET') return listTables;
      if (method === 'POST') return createTable;
      break;
    case 'table':
      if (method === 'GET') return (call) => readTable(call, resource.table);
      if (method === 'DELETE') return (call) => deleteTable(call, resource.table);
      break;
    case 'nested':
      return (call) => refuseNested(call, resource.table);
    case 'entities':
      if (asksOfTable(target.query)) return policiesHandler(resource.table, target.query, method);
      if (method === 'GET') return (call) => queryEntities(call, resource.table);
      if (method === 'POST') return (call) => writeEntity(call, resource);
      break;
    case 'entity':
      if (method === 'GET') return (call) => readEntityByKey(call, resource.table, resource);
      if (method !== 'POST') return (call) => writeEntity(call, resource);
      break;
  }
  throw new TableError('UnsupportedHttpVerb');
}

function serviceHandler(query: Query, method: string): RequestHandler {
  if (query.get('restype') !== 'service') throw new TableError('ResourceNotFound');
  switch (query.get('comp')) {
    case 'properties':
      if (method === 'GET') return readProperties;
      if (method === 'PUT') return writeProperties;
      throw new TableError('UnsupportedHttpVerb');
    case 'stats':
      if (method === 'GET') return readStatistics;
      throw new TableError('UnsupportedHttpVerb');
    default:
      throw new TableError('InvalidQueryParameterValue');
  }
}

function asksOfTable(query: Query): boolean {
  const comp = query.get('comp');
  return comp !== undefined && comp !== '';
}

function policiesHandler(table: string, query: Query, method: string): RequestHandler {
  if (query.get('comp') !== 'acl') throw new TableError('InvalidQueryParameterValue');
  if (method === 'GET' || method === 'HEAD') return (call) => readPolicies(call, table);
  if (method === 'PUT') return (call) => writePolicies(call, table);
  throw new TableError('UnsupportedHttpVerb');
}
