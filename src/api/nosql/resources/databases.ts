/** /dbs and /dbs/{id}. */
import { type DatabaseRecord, databaseRid } from '../../../catalog/index.ts';
import { type Call, resourceNotFound } from '../call.ts';
import { resourceName } from '../containers/resource-name.ts';
import { throughputSetting } from '../containers/throughput-header.ts';
import { listReply } from '../feed.ts';
import { parseJsonObject } from '../items/json-body.ts';
import { emptyReply, jsonReply, notModified, type Reply } from '../reply.ts';
import { ifMatch, isNotModified, isQuery } from '../request.ts';

interface DatabaseResource {
  readonly id: string;
  readonly _rid: string;
  readonly _self: string;
  readonly _etag: string;
  readonly _colls: string;
  readonly _users: string;
  readonly _ts: number;
}

function databaseResource(record: DatabaseRecord): DatabaseResource {
  const rid = databaseRid(record.rid);
  return {
    id: record.id,
    _rid: rid,
    _self: `dbs/${rid}/`,
    _etag: record.etag,
    _colls: 'colls/',
    _users: 'users/',
    _ts: record.timestampSec,
  };
}

export function listDatabases(call: Call): Reply {
  const envelope = { rid: '', key: 'Databases' };
  return listReply(call, envelope, call.service.databases.list(), databaseResource);
}

export function postDatabases(call: Call): Reply | Promise<Reply> {
  return isQuery(call) ? listDatabases(call) : createDatabase(call);
}

async function createDatabase(call: Call): Promise<Reply> {
  const id = resourceName(parseJsonObject(call.body));
  const record = await call.service.databases.create(id, throughputSetting(call));
  return jsonReply(201, databaseResource(record), { charge: 4.95, headers: ['etag', record.etag] });
}

export function readDatabase(call: Call): Reply {
  const record = call.findDatabase();
  if (record === undefined) throw resourceNotFound();
  if (isNotModified(call, record.etag)) return notModified(record.etag, []);
  return jsonReply(200, databaseResource(record), { headers: ['etag', record.etag] });
}

export async function deleteDatabase(call: Call): Promise<Reply> {
  const record = call.findDatabase();
  if (record === undefined) throw resourceNotFound();
  await call.service.databases.delete(record.rid, ifMatch(call));
  return emptyReply(204, { charge: 4.95 });
}
