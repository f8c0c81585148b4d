// Goal: entities keep the type and the exact value of every property. Method: tables of properties as sent, stored
// and indexed.
import { expect, test } from 'vitest';
import { bytesToText, textToBytes } from '../../base/index.ts';
import { Extended } from '../value.ts';
import { edmProperty, type JsonProperty } from './edm.ts';
import { edmCodec, entityOfDocument, entityValue, printEntity, readEntity } from './edm-codec.ts';
import { normalDateTime } from './edm-date-time.ts';

test.each([
  [{ value: 'x', annotation: undefined }, 'Edm.String', '"x"'],
  [{ value: true, annotation: undefined }, 'Edm.Boolean', 'true'],
  [{ value: 5, annotation: undefined }, 'Edm.Int32', '5'],
  [{ value: 5, annotation: undefined, token: '5.0' }, 'Edm.Double', '5.0'],
  [{ value: 1000, annotation: undefined, token: '1e3' }, 'Edm.Double', '1000.0'],
  [{ value: 2 ** 31, annotation: undefined }, 'Edm.Double', '2147483648.0'],
  [{ value: 1e300, annotation: undefined }, 'Edm.Double', '1e+300'],
  [{ value: -0, annotation: undefined, token: '-0.0' }, 'Edm.Double', '-0.0'],
  [{ value: 5, annotation: 'Edm.Double' }, 'Edm.Double', '5.0'],
  [{ value: 'NaN', annotation: 'Edm.Double' }, 'Edm.Double', '"NaN"'],
  [{ value: '-INF', annotation: 'Edm.Double' }, 'Edm.Double', '"-Infinity"'],
  [{ value: '9223372036854775807', annotation: 'Edm.Int64' }, 'Edm.Int64', '"9223372036854775807"'],
  [{ value: 7, annotation: 'Edm.Int64' }, 'Edm.Int64', '"7"'],
  [{ value: '-7', annotation: 'Edm.Int64' }, 'Edm.Int64', '"-7"'],
  [{ value: '+7', annotation: 'Edm.Int64' }, 'Edm.Int64', '"7"'],
  [{ value: '007', annotation: 'Edm.Int64' }, 'Edm.Int64', '"7"'],
  [{ value: '-0', annotation: 'Edm.Int64' }, 'Edm.Int64', '"0"'],
  [{ value: 1e21, annotation: undefined }, 'Edm.Double', '1e+21'],
  [{ value: 1e20, annotation: undefined }, 'Edm.Double', '100000000000000000000.0'],
  [
    { value: '2020-01-31T00:00:00.1234567Z', annotation: 'Edm.DateTime' },
    'Edm.DateTime',
    '"2020-01-31T00:00:00.1234567Z"',
  ],
  [
    { value: '2020-01-31T00:00:00', annotation: 'Edm.DateTime' },
    'Edm.DateTime',
    '"2020-01-31T00:00:00Z"',
  ],
  [
    { value: '2020-01-31T01:00:00.50+02:00', annotation: 'Edm.DateTime' },
    'Edm.DateTime',
    '"2020-01-30T23:00:00.5Z"',
  ],
  [{ value: 'False', annotation: 'Edm.Boolean' }, 'Edm.Boolean', 'false'],
  [{ value: 'true', annotation: 'Edm.Boolean' }, 'Edm.Boolean', 'true'],
  [{ value: '1', annotation: 'Edm.Boolean' }, 'Edm.Boolean', 'true'],
  [{ value: '12345', annotation: 'Edm.Int32' }, 'Edm.Int32', '12345'],
  [{ value: 'AQID', annotation: 'Edm.Binary' }, 'Edm.Binary', '"AQID"'],
] satisfies readonly (readonly [JsonProperty, string, string])[])(
  '%j is %s %s',
  (sent, type, token) => {
    expect(edmProperty(sent)).toMatchObject({ type, token });
  },
);

test.each([
  { value: '9223372036854775808', annotation: 'Edm.Int64' },
  { value: '1e3', annotation: 'Edm.Int64' },
  { value: ' 7', annotation: 'Edm.Int64' },
  { value: '', annotation: 'Edm.Int64' },
  { value: '7.0', annotation: 'Edm.Int64' },
  { value: 2 ** 31, annotation: 'Edm.Int32' },
  { value: 'yes', annotation: 'Edm.Boolean' },
  { value: 1, annotation: 'Edm.Boolean' },
  { value: '2020-02-30T00:00:00Z', annotation: 'Edm.DateTime' },
  { value: '1600-12-31T00:00:00Z', annotation: 'Edm.DateTime' },
  { value: 'not base64!', annotation: 'Edm.Binary' },
  { value: '{x}', annotation: 'Edm.Guid' },
  { value: Number.POSITIVE_INFINITY, annotation: undefined },
  { value: {}, annotation: undefined },
  { value: 'x', annotation: 'Edm.Other' },
])('%j is not a property', (sent) => {
  expect(edmProperty(sent)).toBeUndefined();
});

test.each([
  ['2020-01-31T01:02:03Z', '2020-01-31T01:02:03.0000000Z'],
  ['2020-01-31', '2020-01-31T00:00:00.0000000Z'],
  ['2020-01-31T01:02:03.5', '2020-01-31T01:02:03.5000000Z'],
  ['2020-01-31T01:02:03.1234567Z', '2020-01-31T01:02:03.1234567Z'],
  ['2020-01-31T01:02:03.5+02:00', '2020-01-30T23:02:03.5000000Z'],
  ['2020-01-28T01:02:03.123Z', '2020-01-28T01:02:03.1230000Z'],
  ['2020-01-28T01:02:03Z', '2020-01-28T01:02:03.0000000Z'],
  ['2020-01-28t01:02:03.12345678z', '2020-01-28T01:02:03.1234567Z'],
  ['2020-01-31T01:02:03.1234567Z', '2020-01-31T01:02:03.1234567Z'],
  ['1601-01-01T00:00:00.0000000Z', '1601-01-01T00:00:00.0000000Z'],
  ['1600-01-01T00:00:00.0000000Z', undefined],
  ['2020-01-28T01:02:03.Z', undefined],
  ['2020-01-28T01:60:03Z', undefined],
  ['2020-01-28T01:02:60.1Z', undefined],
  ['2020-01-00T01:02:03Z', undefined],
  ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00.0000000Z'],
  ['2021-02-29T00:00:00Z', undefined],
  ['2020-01-01T24:00:00Z', undefined],
  ['2020-13-01T00:00:00.0000000Z', undefined],
  ['yesterday', undefined],
])('the time %s is %s', (text, normal) => {
  expect(normalDateTime(text)).toBe(normal);
});

test('a stored entity is read as it was written, and as the value that was indexed', () => {
  const entity = entityOfDocument({
    PartitionKey: 'p"\\ü',
    id: ',"id":"x"',
    text: '"a@odata.type":"Edm.Int64","Timestamp":"',
    long: '9007199254740993',
    'long@odata.type': 'Edm.Int64',
    small: '7',
    'small@odata.type': 'Edm.Int64',
    whole: 5,
    'whole@odata.type': 'Edm.Double',
    when: '2020-01-31T01:02:03Z',
    'when@odata.type': 'Edm.DateTime',
    nothing: null,
  });
  const text = printEntity(entity);
  expect(readEntity(textToBytes(text))).toEqual(entity);
  const value = edmCodec.decode(textToBytes(text));
  expect(value).toEqual(entityValue(entity));
  expect(value).toMatchObject({
    long: new Extended({ kind: 'int64', value: 9007199254740993n }),
    small: 7,
    whole: 5,
    when: '2020-01-31T01:02:03.0000000Z',
  });
  expect(bytesToText(edmCodec.encode(value))).toContain('"long":"9007199254740993"');
});

test.each([
  [{ id: 'r' }, 'PartitionKey'],
  [{ PartitionKey: 'p', id: 'r', RowKey: 's' }, 'RowKey'],
  [{ PartitionKey: 'p', id: 'r', list: [1] }, 'list'],
  [{ PartitionKey: 'p', id: 'r', 'a b': 1 }, 'a b'],
])('%j is no entity: %s', (document, named) => {
  expect(() => entityOfDocument(document)).toThrow(named);
});
