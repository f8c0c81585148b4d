/** /Tables: containers of entities, created with a fixed key and listed by name. */
import {
  type ContainerRecord,
  type DatabaseRecord,
  DEFAULT_INDEXING_POLICY,
  type ThroughputSetting,
} from '../../catalog/index.ts';
import { type Service, TABLE_PARTITION_KEY } from '../../service/index.ts';
import type { ValueMap } from '../../value/index.ts';
import { type Call, findTable, openDatabase, tablesDatabase } from './call.ts';
import { nextTableHeaders, parseNextTable } from './entities/continuation.ts';
import type { MetadataLevel } from './entities/entity-reply.ts';
import { TableError } from './errors.ts';
import { parseFilter, testOf } from './odata/index.ts';
import { emptyReply, jsonReply, type Reply } from './reply.ts';
import { metadataLevel, pageRows, preference, throughputSetting } from './request.ts';
import { keyLiteral } from './target.ts';

export async function createTable(call: Call): Promise<Reply> {
  const { service, headers, target } = call;
  const level = metadataLevel(headers, target.query);
  const prefer = preference(headers);
  const { name, throughput } = sentTable(call);
  call.dialect.checkTableName(name);
  call.access.check({ level: 'c', permissions: ['c', 'w'], table: name });
  if (findTable(call, name) !== undefined) throw new TableError('TableAlreadyExists');
  const database = await openDatabase(service);
  await service.containers.create(database.rid, {
    id: name,
    partitionKey: TABLE_PARTITION_KEY,
    home: 'table',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: throughputSetting(headers) ?? throughput ?? defaultThroughput(service, database),
  });
  const link = `${call.origin}Tables(${keyLiteral(name)})`;
  const sent = ['Location', link];
  if (prefer !== undefined) sent.push('Preference-Applied', `return-${prefer}`);
  if (prefer === 'no-content')
    return emptyReply(204, { headers: [...sent, 'DataServiceId', link] });
  return jsonReply(201, JSON.stringify(tableBody(call, name, level, true)), level, {
    headers: sent,
  });
}

/** The throughput of a table that was given none: enough to grow beyond one partition; undefined where the database has it. */
function defaultThroughput(
  { settings }: Service,
  database: DatabaseRecord,
): ThroughputSetting | undefined {
  if (settings.capacityMode === 'serverless' || database.throughput !== undefined) return undefined;
  return { kind: 'manual', requestUnits: settings.unlimitedThroughputMin };
}

/** Reads the table itself: older clients check its existence so. */
export function readTable(call: Call, name: string): Reply {
  call.access.check({ level: 'c', permissions: ['l', 'r'], table: name });
  const level = metadataLevel(call.headers, call.target.query);
  const { id } = namedTable(call, name);
  return jsonReply(200, JSON.stringify(tableBody(call, id, level, true)), level);
}

export async function deleteTable(call: Call, name: string): Promise<Reply> {
  call.access.check({ level: 'c', permissions: ['d'], table: name });
  await call.service.containers.delete(namedTable(call, name));
  return emptyReply(204);
}

function namedTable(call: Call, name: string): ContainerRecord {
  const table = findTable(call, name);
  if (table !== undefined) return table;
  call.dialect.checkTableName(name);
  throw new TableError('ResourceNotFound');
}

export function listTables(call: Call): Reply {
  const { service, headers, target } = call;
  call.access.check({ level: 'c', permissions: ['l'] });
  const level = metadataLevel(headers, target.query);
  const rows = pageRows(target.query);
  const filter = target.query.get('$filter');
  const test = filter === undefined || filter === '' ? undefined : testOf(parseFilter(filter));
  const from = parseNextTable(target.query);
  const names = tableNames(service)
    .filter((name) => name >= from)
    .filter((name) => test === undefined || test({ TableName: name }));
  const next = names[rows];
  const value = names.slice(0, rows).map((name) => tableBody(call, name, level, false));
  const metadata = level === 'none' ? {} : { 'odata.metadata': `${call.origin}$metadata#Tables` };
  return jsonReply(200, JSON.stringify({ ...metadata, value }), level, {
    headers: nextTableHeaders(next),
  });
}

function tableNames(service: Service): readonly string[] {
  const database = tablesDatabase(service);
  if (database === undefined) return [];
  return service.containers
    .list(database)
    .filter(({ home }) => home === 'table')
    .map(({ id }) => id)
    .sort();
}

function tableBody(call: Call, name: string, level: MetadataLevel, isAlone: boolean): ValueMap {
  const { origin, account } = call;
  const metadata = isAlone ? { 'odata.metadata': `${origin}$metadata#Tables/@Element` } : {};
  const link = `Tables(${keyLiteral(name)})`;
  switch (level) {
    case 'none':
      return { TableName: name };
    case 'minimal':
      return { ...metadata, TableName: name };
    case 'full':
      return {
        ...metadata,
        'odata.type': `${account}.Tables`,
        'odata.id': `${origin}${link}`,
        'odata.editLink': link,
        TableName: name,
      };
  }
}

/** Where clients of Microsoft.Azure.Cosmos.Table put their setting TableThroughput: a property beside the name. */
const THROUGHPUT_PROPERTY = 'CosmosDbTableThroughput';

interface SentTable {
  readonly name: string;
  readonly throughput: ThroughputSetting | undefined;
}

function sentTable(call: Call): SentTable {
  let sent: Record<string, unknown> | null;
  try {
    sent = JSON.parse(Buffer.from(call.body).toString('utf8'));
  } catch {
    throw new TableError('InvalidInput');
  }
  const name = sent?.TableName;
  if (typeof name !== 'string') throw new TableError('InvalidInput');
  return { name, throughput: sentThroughput(sent?.[THROUGHPUT_PROPERTY]) };
}

/** A whole number, or the text of one. */
function sentThroughput(sent: unknown): ThroughputSetting | undefined {
  if (sent === undefined || sent === null) return undefined;
  const requestUnits = typeof sent === 'string' ? Number(sent) : sent;
  if (typeof requestUnits !== 'number' || !Number.isSafeInteger(requestUnits))
    throw new TableError('InvalidInput');
  return { kind: 'manual', requestUnits };
}
