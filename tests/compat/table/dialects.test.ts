// Goal: where Storage and Cosmos differ, each behaves as its service does. Method: the same raw requests under both
// hosts, and the stock client where names matter.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, MODES, type Mode, startAccount } from './harness.ts';
import { type RawReply, type RawRequest, sendRaw } from './raw-request.ts';

let account: Account;
beforeAll(async () => {
  account = await startAccount();
  await account.tables('storage').createTable('ttt');
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function send(mode: Mode, raw: RawRequest): Promise<RawReply> {
  const host = `${mode === 'storage' ? '127.0.0.1' : 'localhost'}:${account.port}`;
  return sendRaw(account, { ...raw, headers: { host, ...raw.headers } });
}

const insert = (body: object | string): RawRequest => ({ method: 'POST', path: '/ttt', body });
const entity = (more: object): RawRequest => insert({ PartitionKey: 'p', RowKey: 'r', ...more });
const create = (TableName: string): RawRequest => ({
  method: 'POST',
  path: '/Tables',
  body: { TableName },
});
const typed = (value: unknown, type: string): RawRequest =>
  entity({ a: value, 'a@odata.type': type });

type Refusal = readonly [status: number, code: string, text: string];
const UNREADABLE: Refusal = [
  400,
  'InvalidInput',
  'An error occurred while processing this request.',
];
const INVALID: Refusal = [400, 'InvalidInput', 'One of the request inputs is not valid.'];
const COSMOS_INVALID: Refusal = [400, 'InvalidInput', 'One of the input values is invalid.'];
const URL_INVALID: Refusal = [400, 'InvalidInput', 'Request url is invalid.'];
const NAME_INVALID: Refusal = [
  400,
  'InvalidInput',
  'The table name contains an invalid character.',
];
const NOT_FOUND: Refusal = [404, 'TableNotFound', 'The table specified does not exist.'];
const STORAGE_NAME: Refusal = [
  400,
  'InvalidResourceName',
  'The specifed resource name contains invalid characters.',
];
const STORAGE_LENGTH: Refusal = [
  400,
  'OutOfRangeInput',
  'The specified resource name length is not within the permissible limits.',
];
const QUERY_INVALID: Refusal = [
  400,
  'InvalidQueryParameterValue',
  'Value for one of the query parameters specified in the request URI is invalid.',
];
const SERVICE = '?restype=service&comp=properties';

const CASES: readonly (readonly [string, RawRequest, Refusal, Refusal])[] = [
  ['an Int32 too large', typed(2 ** 31, 'Edm.Int32'), UNREADABLE, COSMOS_INVALID],
  ['an Int64 too large', typed(String(2n ** 63n), 'Edm.Int64'), UNREADABLE, COSMOS_INVALID],
  ['a Boolean that is none', typed('not a bool', 'Edm.Boolean'), UNREADABLE, COSMOS_INVALID],
  ['a time that is null', typed(null, 'Edm.DateTime'), UNREADABLE, COSMOS_INVALID],
  ['a number that is null', typed(null, 'Edm.Double'), UNREADABLE, COSMOS_INVALID],
  ['no JSON', insert('{'), UNREADABLE, COSMOS_INVALID],
  ['a number for a key', insert({ PartitionKey: 'p', RowKey: 5 }), INVALID, COSMOS_INVALID],
  [
    'a key that says it is a Guid',
    insert({ PartitionKey: 'p', RowKey: 'r', 'RowKey@odata.type': 'Edm.Guid' }),
    INVALID,
    COSMOS_INVALID,
  ],
  [
    'a number for a name',
    entity({ 123: 456 }),
    [400, 'PropertyNameInvalid', 'The property name is invalid.'],
    [400, 'PropertyNameInvalid', "The property name '123' is invalid."],
  ],
  ['a table with a mark', create('a#b'), STORAGE_NAME, NAME_INVALID],
  [
    'a table with a space at its end',
    create('abc '),
    STORAGE_NAME,
    [400, 'InvalidInput', 'Table name cannot end with a space.'],
  ],
  [
    'a table with a name too long',
    create('-'.repeat(255)),
    STORAGE_LENGTH,
    [400, 'BadRequest', 'The input name is invalid.'],
  ],
  [
    'no table can have the name that is to go',
    { method: 'DELETE', path: "/Tables('%23')" },
    STORAGE_LENGTH,
    NAME_INVALID,
  ],
  ['no table can have the requested name', { path: '/my_table' }, STORAGE_NAME, NOT_FOUND],
  [
    'no table can have a name so long',
    { path: `/${'-'.repeat(255)}` },
    STORAGE_LENGTH,
    [404, 'ResourceNotFound', 'The specified resource does not exist.'],
  ],
  ['a URL in a table that is not there', { path: '/none/Tables' }, NOT_FOUND, URL_INVALID],
  [
    'a table made inside of a table',
    { ...create('abc'), path: '/ttt/Tables' },
    [400, 'PropertiesNeedValue', 'The values are not specified for all properties in the entity.'],
    URL_INVALID,
  ],
  [
    'a table deleted inside of a table',
    { method: 'DELETE', path: "/ttt/Tables('abc')" },
    [
      400,
      'InvalidInput',
      'The number of keys specified in the URI does not match number of key properties for the resource.',
    ],
    URL_INVALID,
  ],
  [
    'a batch inside of a table',
    {
      method: 'POST',
      path: '/ttt/$batch',
      body: '--b\r\n',
      headers: { 'content-type': 'multipart/mixed; boundary=b' },
    },
    [415, 'MediaTypeNotSupported', 'None of the provided media types are supported'],
    URL_INVALID,
  ],
  [
    'an entity inside of a table',
    { ...entity({}), path: '/ttt/ttt' },
    [404, 'ResourceNotFound', 'The specified resource does not exist.'],
    URL_INVALID,
  ],
];

describe.each(MODES)('%s refuses', (mode) => {
  test.each(CASES)('%s', async (_name, raw, storage, cosmos) => {
    const [status, code, text] = mode === 'storage' ? storage : cosmos;
    const reply = await send(mode, raw);
    expect(reply).toMatchObject({ status, code });
    const { lang, value } = reply.json['odata.error'].message;
    expect(lang).toBe(mode === 'storage' ? 'en-US' : 'en-us');
    expect(value.split('\n')[0]).toBe(text);
  });

  test('properties of the service requested from a table', async () => {
    const [status, code, text] = QUERY_INVALID;
    const reply = await send(mode, { path: `/ttt${SERVICE}` });
    expect(reply.status).toBe(status);
    expect(reply.headers['x-ms-error-code']).toBe(code);
    expect(reply.text).toContain(text);
  });

  test.each([0, 366, 'x'])('metrics kept for %s days', async (days) => {
    const body = `<StorageServiceProperties><MinuteMetrics><Version>1.0</Version><Enabled>true</Enabled><RetentionPolicy><Enabled>true</Enabled><Days>${days}</Days></RetentionPolicy></MinuteMetrics></StorageServiceProperties>`;
    const reply = await send(mode, { method: 'PUT', path: `/${SERVICE}`, body });
    expect(reply.status).toBe(400);
    expect(reply.headers['x-ms-error-code']).toBe('InvalidXmlNodeValue');
  });
});

describe.each(MODES)('%s takes', (mode) => {
  test('values as texts and as nothing, whatever their types', async () => {
    const sent = {
      PartitionKey: 'texts',
      'PartitionKey@odata.type': 'Edm.String',
      RowKey: mode,
      yes: 'True',
      'yes@odata.type': 'Edm.Boolean',
      count: '23',
      'count@odata.type': 'Edm.Int32',
      amount: '0',
      'amount@odata.type': 'Edm.Double',
      since: '2008-07-10T00:00:00',
      'since@odata.type': 'Edm.DateTime',
      no: null,
      'no@odata.type': 'Edm.Boolean',
    };
    const prefer = { prefer: 'return-no-content' };
    expect(await send(mode, { ...insert(sent), headers: prefer })).toMatchObject({ status: 204 });
    const path = `/ttt(PartitionKey='texts',RowKey='${mode}')`;
    const { json } = await send(mode, { path });
    expect(json).toEqual({
      PartitionKey: 'texts',
      RowKey: mode,
      Timestamp: expect.any(String),
      yes: true,
      count: 23,
      amount: 0,
      since: '2008-07-10T00:00:00Z',
    });
  });
});

test('keys of other types than those of the URL are ignored in Storage only', async () => {
  const raw = {
    method: 'PUT',
    path: "/ttt(PartitionKey='p',RowKey='typed')",
    body: { PartitionKey: 'p', RowKey: 'typed', 'RowKey@odata.type': 'Edm.Guid' },
  };
  expect(await send('storage', raw)).toMatchObject({ status: 204 });
  expect(await send('cosmos', raw)).toMatchObject({ status: 400, code: 'InvalidInput' });
});

test('a property Etag is kept in Storage and read over in Cosmos', async () => {
  const seen = await Promise.all(
    MODES.map(async (mode) => {
      const sent = { PartitionKey: 'etags', RowKey: mode, etag: 'bar', Etag: 'baz' };
      const { json } = await send(mode, insert(sent));
      return [json.etag, json.Etag];
    }),
  );
  expect(seen).toEqual([
    ['bar', 'baz'],
    ['bar', undefined],
  ]);
});

test('the secondary takes writes in Cosmos only', async () => {
  const raw = { ...create('second'), path: '-secondary/Tables' };
  const refused = await send('storage', raw);
  expect(refused).toMatchObject({ status: 403, code: 'InsufficientAccountPermissions' });
  expect(refused.text).toContain('Write operations are not allowed.');
  expect(await send('cosmos', raw)).toMatchObject({ status: 201 });
});

test('tables with names of any letters are made, filled, listed and deleted', async () => {
  const names = ['under_score', '啊齄丂狛狜', 'half past', '50%'];
  const tables = account.tables('cosmos');
  for (const name of names) {
    await tables.createTable(name);
    const table = account.table('cosmos', name);
    await table.createEntity({ partitionKey: 'p', rowKey: 'r', text: 'ä啊' });
    expect(await table.getEntity('p', 'r')).toMatchObject({ text: 'ä啊' });
    const [only] = await Array.fromAsync(table.listEntities());
    expect(only).toMatchObject({ text: 'ä啊' });
    await table.submitTransaction([['upsert', { partitionKey: 'p', rowKey: 'batch' }]]);
    await table.deleteEntity('p', 'r');
  }
  const listed: (string | undefined)[] = [];
  for await (const page of tables.listTables().byPage({ maxPageSize: 1 }))
    listed.push(...page.map(({ name }) => name));
  expect(listed).toEqual(expect.arrayContaining(names));
  for (const name of names) await tables.deleteTable(name);
});

test('an account that does not exist is not found, for every caller', async () => {
  for (const isSigned of [true, false]) {
    const { status, headers, text } = await send('storage', {
      ...create('other'),
      account: 'nobody',
      isSigned,
    });
    expect(status).toBe(404);
    expect(headers).toMatchObject({
      'content-type': 'application/xml',
      'x-ms-error-code': 'ResourceNotFound',
    });
    expect(text).toContain('<Code>ResourceNotFound</Code>');
  }
});

test('names of the NoSQL API are reserved in Cosmos and allowed in Storage', async () => {
  const table = account.table('storage', 'reserved');
  await table.createTable();
  const key = { partitionKey: 'p', rowKey: 'r' };
  const names = ['id', '_rid', '_self', '_etag', '_attachments', '_ts', '_lsn'];
  for (const name of names)
    await expect(
      account.table('cosmos', 'reserved').createEntity({ ...key, [name]: 'x' }),
    ).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('PropertyNameInvalid'),
    });
  const given = Object.fromEntries(names.map((name) => [name, `own "${name}": "$id":`]));
  await table.createEntity({ ...key, ...given, _ts: 9007199254740993n });
  await table.createEntity({ ...key, rowKey: 's', id: 'other', cost: '"$id":5' });
  expect(await table.getEntity('p', 'r')).toMatchObject({ ...given, _ts: 9007199254740993n });
  await table.updateEntity({ ...key, id: 'new', more: 1 }, 'Merge');
  const find = async (filter: string, select?: string[]): Promise<unknown[]> => {
    const queryOptions = select === undefined ? { filter } : { filter, select };
    const found: unknown[] = [];
    for await (const { etag: _, timestamp: __, ...rest } of table.listEntities({ queryOptions }))
      found.push(rest);
    return found;
  };
  expect(await find("id eq 'new'", ['id', '_ts'])).toEqual([{ id: 'new', _ts: 9007199254740993n }]);
  expect(await find("id ne 'new' and id ne 'r'")).toEqual([
    { ...key, rowKey: 's', id: 'other', cost: '"$id":5' },
  ]);
  expect(await find("id eq 's'")).toEqual([]);
});

test('a table is read by its name, as older clients do before anything else', async () => {
  await account.tables('storage').createTable('Looked');
  const at = (path: string, mode: Mode = 'storage') => send(mode, { path });
  expect(await at("/Tables('Looked')")).toMatchObject({
    status: 200,
    json: { TableName: 'Looked' },
  });
  expect(await at("/Tables('looked')")).toMatchObject({ json: { TableName: 'Looked' } });
  expect(await at("/Tables(TableName='Looked')", 'cosmos')).toMatchObject({ status: 200 });
  expect(await at("/Tables('looked')", 'cosmos')).toMatchObject({
    status: 404,
    code: 'ResourceNotFound',
  });
  expect(await at("/Tables('absent')")).toMatchObject({ status: 404, code: 'ResourceNotFound' });
  const full = await send('storage', {
    path: "/Tables('Looked')?$format=application/json;odata=fullmetadata",
  });
  expect(full.json).toMatchObject({
    'odata.metadata': expect.stringMatching(/\$metadata#Tables\/@Element$/),
    'odata.editLink': "Tables('Looked')",
    TableName: 'Looked',
  });
});

test('the throughput that older clients set is that of the table', async () => {
  const make = (TableName: string, more: object, headers: Record<string, string> = {}) =>
    send('cosmos', { method: 'POST', path: '/Tables', body: { TableName, ...more }, headers });
  const setting = (name: string): unknown => {
    const { databases, containers } = account.service;
    const database = databases.find('TablesDB');
    return database && containers.find(database, name)?.throughput?.setting;
  };
  const older = { CosmosDbTableThroughput: 700 };
  expect(await make('bare', {})).toMatchObject({ status: 201 });
  expect(await make('older', older)).toMatchObject({ status: 201 });
  expect(await make('written', { CosmosDbTableThroughput: '800' })).toMatchObject({ status: 201 });
  expect(await make('both', older, { 'x-ms-offer-throughput': '900' })).toMatchObject({
    status: 201,
  });
  expect(['bare', 'older', 'written', 'both'].map(setting)).toEqual(
    [1000, 700, 800, 900].map((requestUnits) => ({ kind: 'manual', requestUnits })),
  );
  for (const wrong of ['much', 7.5, {}, true])
    expect(await make('wrong', { CosmosDbTableThroughput: wrong })).toMatchObject({
      status: 400,
      code: 'InvalidInput',
    });
});
