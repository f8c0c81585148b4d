// Goal: every malformed request gets the documented code, and nothing is half applied. Method: a table of raw requests.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from './harness.ts';
import { type RawRequest, sendRaw } from './raw-request.ts';

let account: Account;
beforeAll(async () => {
  account = await startAccount();
  await account.tables('storage').createTable('ttt');
  await account.table('storage', 'ttt').createEntity({ partitionKey: 'p', rowKey: 'there' });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const insert = (body: RawRequest['body'], headers = {}): RawRequest => ({
  method: 'POST',
  path: '/ttt',
  ...(body === undefined ? {} : { body }),
  headers,
});
const entity = (more: object): RawRequest => insert({ PartitionKey: 'p', RowKey: 'r', ...more });
const create = (TableName: unknown): RawRequest => ({
  method: 'POST',
  path: '/Tables',
  body: { TableName },
});
const KEYS = "PartitionKey='p',RowKey='there'";

const CASES: readonly (readonly [string, RawRequest, number, string])[] = [
  ['a short name', create('ab'), 400, 'OutOfRangeInput'],
  ['a long name', create('a'.repeat(64)), 400, 'OutOfRangeInput'],
  ['a name with other letters', create('my-table'), 400, 'InvalidResourceName'],
  ['a reserved name', create('Tables'), 400, 'InvalidResourceName'],
  ['a name that is no text', create(5), 400, 'InvalidInput'],
  ['a table twice', create('Ttt'), 409, 'TableAlreadyExists'],
  ['no such table', { path: '/none()' }, 404, 'TableNotFound'],
  [
    'no such table to delete',
    { method: 'DELETE', path: "/Tables('none')" },
    404,
    'ResourceNotFound',
  ],
  ['no such entity', { path: "/ttt(PartitionKey='p',RowKey='none')" }, 404, 'ResourceNotFound'],
  ['an unknown path', { path: '/a/b/c' }, 404, 'ResourceNotFound'],
  ['a broken key', { path: "/ttt(PartitionKey='p',RowKey='r)" }, 400, 'InvalidInput'],
  ['one key', { path: "/ttt(PartitionKey='p')" }, 400, 'InvalidInput'],
  ['a broken escape', { path: '/ttt%zz' }, 400, 'InvalidInput'],
  ['a verb that is none', { method: 'PUT', path: '/ttt' }, 405, 'UnsupportedHttpVerb'],
  [
    'an entity that exists',
    insert({ PartitionKey: 'p', RowKey: 'there' }),
    409,
    'EntityAlreadyExists',
  ],
  ['no JSON', insert('{'), 400, 'InvalidInput'],
  ['a list', insert('[]'), 400, 'InvalidInput'],
  ['no body', insert(undefined), 400, 'InvalidInput'],
  ['no row key', insert({ PartitionKey: 'p' }), 400, 'PropertiesNeedValue'],
  ['a key that is no text', insert({ PartitionKey: 'p', RowKey: 5 }), 400, 'InvalidInput'],
  ['a slash in a key', insert({ PartitionKey: 'p', RowKey: 'a/b' }), 400, 'OutOfRangeInput'],
  [
    'a control character in a key',
    insert({ PartitionKey: 'p\u0001', RowKey: 'a' }),
    400,
    'OutOfRangeInput',
  ],
  ['a long key', insert({ PartitionKey: 'p'.repeat(513), RowKey: 'a' }), 400, 'KeyValueTooLarge'],
  ['a nested value', entity({ a: {} }), 400, 'InvalidInput'],
  ['a type that is none', entity({ a: 'x', 'a@odata.type': 'Edm.Foo' }), 400, 'InvalidInput'],
  ['a value of another type', entity({ a: 'x', 'a@odata.type': 'Edm.Int64' }), 400, 'InvalidInput'],
  ['a bad property name', entity({ 'a-b': 1 }), 400, 'PropertyNameInvalid'],
  ['a long property name', entity({ ['a'.repeat(256)]: 1 }), 400, 'PropertyNameTooLong'],
  ['a long text', entity({ a: 'x'.repeat(32 * 1024 + 1) }), 400, 'PropertyValueTooLarge'],
  [
    'long bytes',
    entity({ a: 'A'.repeat(4 * 22_000), 'a@odata.type': 'Edm.Binary' }),
    400,
    'PropertyValueTooLarge',
  ],
  [
    'too many properties',
    entity(Object.fromEntries(Array.from({ length: 253 }, (_, at) => [`a${at}`, 1]))),
    400,
    'TooManyProperties',
  ],
  [
    'a large entity',
    entity(
      Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`a${at}`, 'x'.repeat(32_000)])),
    ),
    400,
    'EntityTooLarge',
  ],
  ['a large request', insert('x'.repeat(4 * 1024 * 1024 + 1)), 413, 'RequestBodyTooLarge'],
  [
    'an unknown preference',
    insert({ PartitionKey: 'p', RowKey: 'x' }, { prefer: 'return-all' }),
    400,
    'InvalidHeaderValue',
  ],
  [
    'Atom',
    { path: '/ttt()', headers: { accept: 'application/atom+xml' } },
    415,
    'AtomFormatNotSupported',
  ],
  [
    'an unknown level',
    { path: '/ttt()', headers: { accept: 'application/json;odata=foo' } },
    415,
    'MediaTypeNotSupported',
  ],
  [
    'a version that is none',
    { path: '/ttt()', headers: { 'x-ms-version': 'new' } },
    400,
    'InvalidHeaderValue',
  ],
  ['too many rows requested', { path: '/ttt()?$top=1001' }, 400, 'InvalidInput'],
  ['rows that are no number', { path: '/ttt()?$top=x' }, 400, 'InvalidInput'],
  [
    'a delete without a condition',
    { method: 'DELETE', path: `/ttt(${KEYS})` },
    400,
    'MissingRequiredHeader',
  ],
  [
    'an etag that is none',
    { method: 'DELETE', path: `/ttt(${KEYS})`, headers: { 'if-match': 'x' } },
    400,
    'InvalidInput',
  ],
  [
    'another etag',
    { method: 'DELETE', path: `/ttt(${KEYS})`, headers: { 'if-match': 'W/"x"' } },
    412,
    'UpdateConditionNotSatisfied',
  ],
  ['a batch that is none', { method: 'POST', path: '/$batch', body: 'x' }, 400, 'InvalidInput'],
  [
    'a throughput that is none',
    { ...create('scaled'), headers: { 'x-ms-offer-throughput': 'x' } },
    400,
    'InvalidHeaderValue',
  ],
  [
    'too little throughput',
    { ...create('scaled'), headers: { 'x-ms-offer-throughput': '1' } },
    400,
    'InvalidInput',
  ],
  [
    'an unknown part of the service',
    { path: '/?restype=service&comp=foo' },
    400,
    'InvalidQueryParameterValue',
  ],
];

test.each(CASES)('%s', async (_, request, status, code) => {
  const response = await sendRaw(account, request);
  expect({ status: response.status, code: response.headers['x-ms-error-code'] }).toEqual({
    status,
    code,
  });
  expect(response.text).toContain(code);
});

test('after all this one entity is there', async () => {
  const { json } = await sendRaw(account, { path: '/ttt()?$select=RowKey' });
  expect(json).toEqual({ value: [{ RowKey: 'there' }] });
});
