// Goal: what is written is read back, wherever the buffer has to grow. Method: every notation at every offset near its end.
import { expect, test } from 'vitest';
import { BodyReader, UNSET } from './body-reader.ts';
import { BodyWriter } from './body-writer.ts';

test.each(Array.from({ length: 40 }, (_, at) => at))('notations after %i bytes', (before) => {
  const writer = new BodyWriter(16);
  for (let at = 0; at < before; at++) writer.byte(at);
  writer.byte(0xaa).short(0xbeef).int(-2).long(-3n).string('ä').bytes(null).bytes(Buffer.from('b'));
  writer.shortBytes(Buffer.from('cd')).stringList(['x', 'yz']).byte(0xff);
  const reader = new BodyReader(writer.finish());
  for (let at = 0; at < before; at++) expect(reader.byte()).toBe(at);
  expect([reader.byte(), reader.short(), reader.int(), reader.long(), reader.string()]).toEqual([
    0xaa,
    0xbeef,
    -2,
    -3n,
    'ä',
  ]);
  expect([reader.bytes(), reader.bytes()]).toEqual([null, Buffer.from('b')]);
  expect([reader.shortBytes(), reader.stringList(), reader.byte(), reader.isAtEnd]).toEqual([
    Buffer.from('cd'),
    ['x', 'yz'],
    0xff,
    true,
  ]);
});

test('values are null, unset, or bytes', () => {
  const bytes = new BodyWriter().int(-1).int(-2).int(0).int(-2).int(-3).finish();
  const reader = new BodyReader(bytes);
  expect([reader.value(4), reader.value(4), reader.value(4), reader.value(3)]).toEqual([
    null,
    UNSET,
    Buffer.alloc(0),
    null,
  ]);
  expect(() => reader.value(4)).toThrow('Invalid ByteBuf length -3');
  expect(() => reader.int()).toThrow('The body of the request ends too early');
});
