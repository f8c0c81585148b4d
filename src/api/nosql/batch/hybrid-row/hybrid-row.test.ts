// Goal: rows are those of the public format, and what is not a row is refused. Method: bytes that the format's reference
// implementation wrote for operations and results made up here; then the same bytes with every fault that has a message.
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { bytesToText } from '../../../../base/index.ts';
import type { Item } from '../../../../partition/index.ts';
import { RequestError } from '../../errors.ts';
import type { OperationResult } from '../batch-result.ts';
import { printResultRecords, readOperationRow, readRecords } from './index.ts';

const X120 = '78'.repeat(120);
const X112 = '78'.repeat(112);

/** With an empty comment and an empty schema, as that implementation writes them. */
const LONG_SEGMENT = '81f0d8ff7f0110000000140200140300';
const SEGMENT = '81f0d8ff7f010a000000';

const TRANSACTION = [
  '81f1d8ff7f2c000000adc3fc49817054e17f4300000000020000001d7b226964223a226772c3bc6e222c22706b223a2270222c226e223a317d',
  '81f1d8ff7f30000000a8bb00df817054e17f431400000002000000157b226964223a2274776f222c22706b223a2270227d1408074578636c756465030c',
  '81f1d8ff7f490000009b47b512817054e17f530100000002000000056772c3bc6e347b226f7065726174696f6e73223a5b7b226f70223a22696e6372222c2270617468223a222f6e222c2276616c7565223a327d5d7d',
  '81f1d8ff7f2100000087596791817054e17f130200000002000000056772c3bc6e140a0a226e6f626f6479277322',
  `81f1d8ff7faf00000002468e1e817054e17f5305000000020000000374776f97017b226964223a2274776f222c22706b223a2270222c2274657874223a22${X120}227d1409012a`,
  '81f1d8ff7f1200000032b697e3817054e17f1304000000020000000374776f',
];

const BULK = [
  '81f1d8ff7f2800000027a90967817054e17f470000000002000000055b2270225d137b226964223a2231222c22706b223a2270227d',
  '81f1d8ff7f1e0000002ba972ec817054e17f170200000002000000055b2271225d0131070b3c000000020c',
  '81f1d8ff7f1b000000ceb45d43817054e17f3f0400000002000000045b7b7d5d0301020301310109',
];

const RESULTS = [
  '81f1d8ff7f29000000fe07c782817154e17f0dc9000000000000000522652d31220a7b226964223a2231227d1006d7a3703d0ad71640',
  '81f1d8ff7f1800000012c7fa50817154e17f01a80100000000000010060000000000000000',
  '81f1d8ff7f1e0000007daba06f817154e17f03ad010000800c00000b05dc050000100652b81e85eb51d83f',
  '81f1d8ff7f1e0000004cca8b88817154e17f0530010000000000000522652d32221006000000000000f03f',
  '81f1d8ff7f3e00000031440371817154e17f099901000000000000257b22636f6465223a22436f6e666c696374222c226d657373616765223a227468657265227d1006d7a3703d0ad7f33f',
  `81f1d8ff7fa100000060706e01817154e17f0dc8000000000000000522652d332281017b226964223a2233222c2278223a22${X112}227d1006000000000000f03f`,
];

function read(hex: string) {
  return readRecords(Buffer.from(hex, 'hex'), 1000)
    .map(readOperationRow)
    .map(({ resourceBody, ...row }) => ({
      ...row,
      resourceBody: resourceBody && bytesToText(resourceBody),
    }));
}

test('operations of a transaction', () => {
  const none = { id: undefined, partitionKey: undefined, resourceBody: undefined };
  const expected = [
    { ...none, operationType: 'Create', resourceBody: '{"id":"grün","pk":"p","n":1}' },
    {
      ...none,
      operationType: 'Upsert',
      resourceBody: '{"id":"two","pk":"p"}',
      minimalReturnPreference: true,
    },
    {
      ...none,
      operationType: 'Patch',
      id: 'grün',
      resourceBody: '{"operations":[{"op":"incr","path":"/n","value":2}]}',
    },
    { ...none, operationType: 'Read', id: 'grün', ifNoneMatch: '"nobody\'s"' },
    {
      ...none,
      operationType: 'Replace',
      id: 'two',
      resourceBody: `{"id":"two","pk":"p","text":"${'x'.repeat(120)}"}`,
      ifMatch: '*',
    },
    { ...none, operationType: 'Delete', id: 'two' },
  ];
  expect(read(LONG_SEGMENT + TRANSACTION.join(''))).toEqual(expected);
  expect(read(SEGMENT + TRANSACTION.join(''))).toEqual(expected);
  const inTwoSegments = [
    SEGMENT,
    ...TRANSACTION.slice(0, 2),
    LONG_SEGMENT,
    ...TRANSACTION.slice(2),
  ];
  expect(read(inTwoSegments.join(''))).toEqual(expected);
});

test('operations of a bulk request, with keys and with columns that are not used', () => {
  expect(read(SEGMENT + BULK.join(''))).toEqual([
    {
      operationType: 'Create',
      id: undefined,
      partitionKey: '["p"]',
      resourceBody: '{"id":"1","pk":"p"}',
    },
    {
      operationType: 'Read',
      id: '1',
      partitionKey: '["q"]',
      resourceBody: undefined,
      minimalReturnPreference: false,
    },
    { operationType: 'Delete', id: '1', partitionKey: '[{}]', resourceBody: undefined },
  ]);
});

test('results', () => {
  const item = (etag: string, body: string) =>
    ({ etag, body: Buffer.from(body) }) as unknown as Item;
  const results: OperationResult[] = [
    { status: 201, charge: 5.71, item: item('"e-1"', '{"id":"1"}') },
    { status: 424, charge: 0 },
    { status: 429, substatus: 3200, charge: 0.38, retryAfterMs: 1499.2 },
    { status: 304, charge: 1, item: item('"e-2"', '{}'), hasBody: false },
    { status: 409, substatus: 0, charge: 1.24, message: 'there' },
    { status: 200, charge: 1, item: item('"e-3"', `{"id":"3","x":"${'x'.repeat(112)}"}`) },
  ];
  const printed = Buffer.from(printResultRecords(results)).toString('hex');
  expect(printed).toBe(SEGMENT + RESULTS.join(''));
});

test('reading stops after the maximum count', () => {
  expect(readRecords(Buffer.from(SEGMENT + TRANSACTION.join(''), 'hex'), 2)).toHaveLength(2);
});

/** A record around a row that is right by its length and checksum. */
function record(row: string): string {
  const bytes = Buffer.from(row, 'hex');
  const head = Buffer.alloc(13);
  head.write('81f1d8ff7f', 'hex');
  head.writeInt32LE(bytes.length, 5);
  head.writeUInt32LE(crc32(bytes), 9);
  return SEGMENT + head.toString('hex') + row;
}

const OPERATION = '817054e17f';

test.each([
  ['it ends in the middle', SEGMENT.slice(0, -2)],
  ['it does not begin with the header of a segment', TRANSACTION[5]],
  ['the header of a segment does not tell its length', '81f0d8ff7f000a000000'],
  ['the header of a segment does not tell its length', '81f0d8ff7f0109000000'],
  ['it ends in the middle', '81f0d8ff7f010b000000'],
  ['it ends in the middle', '81f0d8ff7f01ffffff7f'],
  ['a row has an unknown version', `${SEGMENT}80f1d8ff7f`],
  ['a record is expected', `${SEGMENT}817054e17f`],
  ['it ends in the middle', (SEGMENT + TRANSACTION[5]).slice(0, -2)],
  ['it ends in the middle', `${SEGMENT}81f1d8ff7fffffffff00000000`],
  ['it ends in the middle', `${SEGMENT}81f1d8ff7fffffff7f00000000`],
  [
    'the checksum of a record does not match',
    `${SEGMENT}${TRANSACTION[5]?.replace('32b6', '33b6')}`,
  ],
  ['it ends in the middle', record('')],
  ['a row has an unknown version', record(`80${OPERATION.slice(2)}0000000000000000`)],
  ['a record is not an operation', record('817154e17f01a801000000000000')],
  ['it ends in the middle', record(`${OPERATION}00`)],
  ['an operation is about another resource than an item', record(`${OPERATION}030000000001000000`)],
  [
    'has the hash of its partition key and not the key',
    record(`${OPERATION}0b00000000020000000101`),
  ],
  ['it ends in the middle', record(`${OPERATION}13040000000200000004`)],
  ['a length is too large', record(`${OPERATION}130400000002000000808080808001`)],
  ['it ends in the middle', record(`${OPERATION}130400000002000000ffffffff7f`)],
  ['a text is not valid UTF-8', record(`${OPERATION}13040000000200000001ff`)],
  ['an operation has an unknown field', record(`${OPERATION}0304000000020000001407`)],
  ['an operation has an unknown field', record(`${OPERATION}030400000002000000140d`)],
  ['a field of an operation has the wrong type', record(`${OPERATION}0304000000020000001509012a`)],
  ['a field of an operation has the wrong type', record(`${OPERATION}030400000002000000140b`)],
  ['a field of an operation has the wrong type', record(`${OPERATION}030400000002000000010c`)],
])('refused: %s', (why, hex) => {
  expect(() => read(hex as string)).toThrow(RequestError);
  expect(() => read(hex as string)).toThrow(`The batch request body is invalid: `);
  expect(() => read(hex as string)).toThrow(why);
});

test('an unknown or missing operation type is left to the reader of the batch', () => {
  expect(read(record(`${OPERATION}030300000002000000`))[0]?.operationType).toBeUndefined();
  expect(read(record(`${OPERATION}020000000002000000`))[0]?.operationType).toBeUndefined();
});
