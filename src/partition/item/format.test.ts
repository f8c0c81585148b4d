// Goal: a store says which format it has, and is not opened as another. Method: golden vectors; partitions opened again.
import { expect, test } from 'vitest';
import { fromHex, toHex } from '../../base/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { keyOf, openForTest, put, textOf } from '../test-kit.ts';
import { checkFormat, decodeOwner, encodeFormat, encodeOwner } from './format.ts';
import { STATE_KEY } from './keyspace.ts';

test('golden vectors', () => {
  expect(toHex(encodeFormat({ keyFormat: 2, ring: 'token' }))).toBe('010201');
  expect(toHex(encodeFormat({ keyFormat: 1, ring: 'hash' }))).toBe('010100');
  const owner = { epoch: 258, name: 'né' };
  expect(toHex(encodeOwner(owner))).toBe('0100000000000001026EC3A9');
  expect(decodeOwner(encodeOwner(owner))).toEqual(owner);
});

test('another format than that of the container is refused', () => {
  const format = { keyFormat: 2, ring: 'hash' } as const;
  checkFormat(fromHex('010200'), format);
  expect(() => checkFormat(fromHex('010100'), format)).toThrow('format 1 on ring hash');
  expect(() => checkFormat(fromHex('010201'), format)).toThrow('ring token');
  expect(() => checkFormat(fromHex('020200'), format)).toThrow('not understood');
});

test('a store gets its format with the first write, and an epoch with every opening that writes', async () => {
  const store = await memoryEngine().open('p');
  const stored = async (prefix: number) => {
    const bytes = await store.get(Uint8Array.of(prefix));
    return bytes && toHex(bytes);
  };
  const format = { keyFormat: 2, ring: 'hash' } as const;
  const first = await openForTest(store, { format });
  expect([await stored(0), await stored(6)]).toEqual([undefined, undefined]);
  await put(first, 'create', keyOf('a', '1'), 'x');
  await put(first, 'create', keyOf('a', '2'), 'x');
  expect([await stored(0), await stored(6)]).toEqual(['010200', '010000000000000001']);
  await openForTest(store, { format });
  const third = await openForTest(store, { format });
  await put(third, 'create', keyOf('a', '3'), 'x');
  expect(await stored(6)).toBe('010000000000000002');
  await expect(
    openForTest(store, { format: { keyFormat: 1, ring: 'hash' } }),
  ).rejects.toMatchObject({ code: 'unavailable' });
});

test('a store of the version before is opened, read and written', async () => {
  const store = await memoryEngine().open('p');
  const before = await openForTest(store);
  for (const id of ['1', '2']) await put(before, 'create', keyOf('a', id), `text ${id}`);
  const { checksum } = before.statistics();
  // As that version left it: counters of version 1, no format and no owner.
  const stored = (await store.get(STATE_KEY)) as Uint8Array;
  const seven = stored.subarray(2, 2 + 7 * 8);
  await store.commit({
    deletes: [Uint8Array.of(0), Uint8Array.of(6)],
    puts: [{ key: STATE_KEY, value: Buffer.concat([Uint8Array.of(1), seven]) }],
  });
  const after = await openForTest(store);
  expect(after.statistics()).toMatchObject({ lsn: 2, itemCount: 2, checksum });
  expect(textOf(await after.read(keyOf('a', '2')))).toBe('text 2');
  await put(after, 'replace', keyOf('a', '2'), 'new');
  const again = await openForTest(store);
  expect(textOf(await again.read(keyOf('a', '2')))).toBe('new');
  expect(textOf(await again.read(keyOf('a', '1')))).toBe('text 1');
  expect(again.statistics()).toMatchObject({ lsn: 3, itemCount: 2 });
});
