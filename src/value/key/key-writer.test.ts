// Goal: keys are big-endian, escaped, and safe while the writer is reused. Method: exact bytes, then reuse and
// growth.
import { describe, expect, it } from 'vitest';
import { type Bytes, compareBytes, toHex } from '../../base/index.ts';
import { KeyReader } from './key-reader.ts';
import { KeyWriter } from './key-writer.ts';

describe('parts', () => {
  it.each<[string, (writer: KeyWriter) => KeyWriter, string]>([
    ['u8', (writer) => writer.u8(0x11), '11'],
    ['u16', (writer) => writer.u16(0x1234), '1234'],
    ['u32', (writer) => writer.u32(0xfedcba98), 'FEDCBA98'],
    ['u48', (writer) => writer.u48(2 ** 48 - 1), 'FFFFFFFFFFFF'],
    ['u48 above 2^32', (writer) => writer.u48(2 ** 32 + 5), '000100000005'],
    ['u64', (writer) => writer.u64(2 ** 53 - 1), '001FFFFFFFFFFFFF'],
    ['raw', (writer) => writer.raw(Uint8Array.of(0, 255)), '00FF'],
    ['bytes', (writer) => writer.bytes(Uint8Array.of(0, 1, 255)), '00FF01FF00'],
    ['no bytes', (writer) => writer.bytes(new Uint8Array(0)), '00'],
    ['text', (writer) => writer.value('ab'), '1C616200'],
    ['text in bson', (writer) => writer.value('ab', 'bson'), '46616200'],
    ['text prefix', (writer) => writer.textPrefix('a\0'), '1C6100FF'],
    ['a chain', (writer) => writer.u8(1).u16(2).value(null).u64(3), '010002140000000000000003'],
  ])('%s', (_, write, expected) => {
    expect(toHex(write(new KeyWriter()).take())).toBe(expected);
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN])('u64 refuses %d', (n) => {
    expect(() => new KeyWriter().u64(n)).toThrow('safe');
  });
});

it('the reader returns the parts that the writer wrote', () => {
  const key = new KeyWriter()
    .u8(1)
    .u16(2)
    .u32(2 ** 32 - 1)
    .u48(2 ** 48 - 1)
    .u64(2 ** 53 - 1)
    .raw(Uint8Array.of(7, 8))
    .bytes(Uint8Array.of(0, 0, 9))
    .value('text')
    .value(-1.5, 'bson')
    .take();
  const reader = new KeyReader(key);
  expect([reader.u8(), reader.u16(), reader.u32(), reader.u48(), reader.u64()]).toEqual([
    1,
    2,
    2 ** 32 - 1,
    2 ** 48 - 1,
    2 ** 53 - 1,
  ]);
  expect([...reader.raw(2)]).toEqual([7, 8]);
  expect([...reader.bytes()]).toEqual([0, 0, 9]);
  expect([reader.value(), reader.value()]).toEqual(['text', -1.5]);
  expect(reader.isAtEnd).toBe(true);
  expect(() => reader.u8()).toThrow('has more bytes');
});

describe('reuse', () => {
  it('keys that were taken never change', () => {
    const writer = new KeyWriter(8);
    const taken: [Bytes, string][] = [];
    for (let round = 0; round < 200; round++) {
      const text = `id-${round}`.repeat(1 + (round % 7));
      const key = writer.reset().u8(0x11).value(text).value(round).take();
      taken.push([key, toHex(key)]);
    }
    for (const [key, hex] of taken) expect(toHex(key)).toBe(hex);
    for (const [round, [key]] of taken.entries()) {
      const reader = new KeyReader(key, 1);
      reader.value();
      expect(reader.value()).toBe(round);
    }
  });

  it('a writer may continue after take, and reset without take', () => {
    const writer = new KeyWriter();
    const prefix = writer.u8(1).take();
    const longer = writer.u8(2).take();
    expect([toHex(prefix), toHex(longer)]).toEqual(['01', '0102']);
    expect(toHex(writer.reset().u8(9).reset().u8(3).take())).toBe('03');
    expect([toHex(prefix), toHex(longer)]).toEqual(['01', '0102']);
  });

  it('texts with a common beginning sort behind their prefix', () => {
    const prefix = new KeyWriter().textPrefix('ab').take();
    for (const text of ['ab', 'abc', 'ab\0', 'ab\u{10ffff}']) {
      const key = new KeyWriter().value(text).take();
      expect(compareBytes(key.subarray(0, prefix.length), prefix)).toBe(0);
    }
  });
});
