// Goal: messages come out whole however the stream is cut. Method: the same stream in chunks of every size.
import { expect, test } from 'vitest';
import { MessageReader, readReport, readRow } from './postgres-message-reader.ts';
import { byteaArray, readLatin1Array } from './postgres-messages.ts';

function message(code: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(code);
  head.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

const ROW = Buffer.concat([
  Buffer.from([0, 3, 0, 0, 0, 2, 0xff, 0xc3, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
]);
const STREAM = Buffer.concat([
  message('D', ROW),
  message('Z', Buffer.from('I')),
  message('D', Buffer.concat([Buffer.from([0, 1, 0, 0, 3, 0xe8]), Buffer.alloc(1000, 7)])),
  message('C', Buffer.from('SELECT 1\0')),
]);

test('chunks of every size', () => {
  for (let size = 1; size <= STREAM.length; size++) {
    const found: string[] = [];
    const reader = new MessageReader((code, body) =>
      found.push(`${String.fromCharCode(code)}${body.length}`),
    );
    for (let at = 0; at < STREAM.length; at += size) reader.push(STREAM.subarray(at, at + size));
    expect(found, `chunks of ${size}`).toEqual(['D16', 'Z1', 'D1006', 'C9']);
  }
});

test('bytes of a row are not decoded; NULL and empty differ', () => {
  expect(readRow(ROW)).toEqual([Uint8Array.of(0xff, 0xc3), null, new Uint8Array(0)]);
});

test('reports of the server', () => {
  const fields = { S: 'FATAL', V: 'ERROR', C: '53100', M: 'no space', D: 'More.' };
  const body = Buffer.from(
    `${Object.entries(fields)
      .map(([code, value]) => `${code}${value}\0`)
      .join('')}\0`,
  );
  expect(readReport(body)).toEqual({
    severity: 'ERROR',
    code: '53100',
    message: 'no space',
    detail: 'More.',
  });
});

test('lists of bytes', () => {
  const items = [Uint8Array.of(0, 0xff), new Uint8Array(0), Uint8Array.of(0x41)];
  expect(readLatin1Array(byteaArray(items))).toEqual(['\0\xff', '', 'A']);
  expect(readLatin1Array(byteaArray([]))).toEqual([]);
});
