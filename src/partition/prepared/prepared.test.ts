// Goal: a prepared transaction is stored, holds its items until it is resolved, and survives reopening.
// Method: partitions on memory, at once and later; the steps are called one by one; formats against golden bytes.
import { describe, expect, test, vi } from 'vitest';
import { DomainError, fromHex, HELD_ITEM_WAIT_MS, textToBytes, toHex } from '../../base/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import type { Item } from '../item/item.ts';
import type { Partition } from '../partition.ts';
import { KEYS_FOR_TEST, keyOf, openForTest, put, remove, textOf } from '../test-kit.ts';
import {
  decodeHeader,
  decodeOp,
  decodeOutcome,
  encodeHeader,
  encodeOp,
  encodeOutcome,
  type Outcome,
} from './prepared-format.ts';
import type { CheckedOp } from './prepared-transactions.ts';

const ENGINES: readonly [string, () => Engine][] = [
  ['memory', memoryEngine],
  ['memory, later', () => asyncEngine(memoryEngine())],
];

const [X, Y, Z] = [keyOf('p', 'x'), keyOf('p', 'y'), keyOf('q', 'z')];
const ID = '00112233445566778899001122334455';
const OTHER = '99112233445566778899001122334455';
const HEADER = { coordinator: textToBytes('somewhere'), deadlineMs: 2_000_000 };
const ABORTED: Outcome = { isCommitted: false, deadlineMs: 1, epk: X.epk, participants: [] };

function putOp(key: typeof X, text: string, etag: string | undefined): CheckedOp {
  const body = textToBytes(text);
  const stored = { kind: 'put', key, encoding: 'json', ttlSec: 0, body } as const;
  return { kind: etag === undefined ? 'create' : 'replace', key, etag, put: stored };
}

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: DomainError) => error.code,
  );

describe.each(ENGINES)('on %s', (_, newEngine) => {
  /** X is written to `b`, Y is deleted, Z is only read. */
  async function prepared() {
    const engine = newEngine();
    const partition = await openForTest(await engine.open('p'));
    const items: (Item | undefined)[] = [];
    for (const key of [X, Y, Z]) items.push((await put(partition, 'create', key, 'a'))?.item);
    const [x, y, z] = items.map((item) => item?.etag);
    const ops: readonly CheckedOp[] = [
      putOp(X, 'b', x),
      { kind: 'delete', key: Y, etag: y },
      { kind: 'read', key: Z, etag: z },
    ];
    await partition.transactions.prepare(ID, HEADER, ops, { firstNumber: 1 });
    return { engine, partition, ops };
  }

  async function texts(partition: Partition): Promise<readonly (string | undefined)[]> {
    const found: (string | undefined)[] = [];
    for (const key of [X, Y, Z]) found.push(textOf(await partition.read(key)));
    return found;
  }

  test('it is not seen, and then seen as a whole', async () => {
    const { partition } = await prepared();
    expect(await texts(partition)).toEqual(['a', 'a', 'a']);
    const effects = await partition.transactions.resolve(ID, true);
    expect(effects.map(({ kind }) => kind)).toEqual(['replaced', 'deleted']);
    expect(await texts(partition)).toEqual(['b', undefined, 'a']);
    expect(await partition.transactions.resolve(ID, true)).toEqual([]);
    expect(partition.transactions.state.isEmpty).toBe(true);
    await partition.close();
  });

  test('writers of held items wait for the outcome, others do not', async () => {
    const { partition } = await prepared();
    const waiting = [put(partition, 'upsert', X, 'c'), remove(partition, Z)];
    await put(partition, 'create', keyOf('p', 'free'), 'd');
    expect(await texts(partition)).toEqual(['a', 'a', 'a']);
    await partition.transactions.resolve(ID, false);
    await Promise.all(waiting);
    expect(await texts(partition)).toEqual(['c', 'a', undefined]);
    await partition.close();
  });

  test('readers share an item, a writer does not', async () => {
    const { partition } = await prepared();
    const z = (await partition.read(Z))?.etag;
    const { transactions } = partition;
    expect(
      await code(transactions.prepare(OTHER, HEADER, [putOp(Z, 'c', z)], { firstNumber: 1 })),
    ).toBe('retryWith');
    expect(
      await code(
        transactions.prepare(OTHER, HEADER, [{ kind: 'read', key: Z, etag: z }], {
          firstNumber: 1,
        }),
      ),
    ).toBe('done');
    await transactions.resolve(ID, true);
    const waiting = remove(partition, Z);
    await transactions.resolve(OTHER, true);
    await waiting;
    await partition.close();
  });

  test('an item that is not as it was read refuses the whole chunk', async () => {
    const { partition } = await prepared();
    await partition.transactions.resolve(ID, true);
    const { transactions } = partition;
    const ops = [putOp(Z, 'c', (await partition.read(Z))?.etag), putOp(X, 'c', undefined)];
    expect(await code(transactions.prepare(OTHER, HEADER, ops, { firstNumber: 1 }))).toBe(
      'retryWith',
    );
    expect(transactions.state.held.isEmpty).toBe(true);
    await put(partition, 'upsert', Z, 'd');
    await partition.close();
  });

  test('a write beyond a storage limit refuses the whole chunk', async () => {
    const partition = await openForTest(await newEngine().open('p'));
    const newCheck = () => (change: { readonly key: typeof X }) => {
      if (change.key === Y) throw new DomainError('partitionKeyFull', 'full');
    };
    const ops = [putOp(X, 'a', undefined), putOp(Y, 'a', undefined)];
    const { transactions } = partition;
    const options = { firstNumber: 1, newCheck };
    expect(await code(transactions.prepare(ID, HEADER, ops, options))).toBe('partitionKeyFull');
    expect(transactions.state.isEmpty).toBe(true);
    await partition.close();
  });

  test('a range with a held item is not deleted', async () => {
    const { partition } = await prepared();
    const range = KEYS_FOR_TEST.rangeOf(X.epk, ['p']);
    expect(await code(partition.deleteRange(range))).toBe('retryWith');
    await partition.transactions.resolve(ID, false);
    expect(await code(partition.deleteRange(range))).toBe('done');
    await partition.close();
  });

  test('it holds its items after reopening', async () => {
    const { engine, partition } = await prepared();
    await partition.close();
    const opened = await openForTest(await engine.open('p'));
    const [transaction] = [...opened.transactions.state.prepared];
    expect(transaction?.coordinator).toEqual(HEADER.coordinator);
    expect(transaction?.ops.size).toBe(3);
    const waiting = put(opened, 'upsert', X, 'c');
    await opened.transactions.resolve(ID, true);
    await waiting;
    expect(await texts(opened)).toEqual(['c', undefined, 'a']);
    await opened.close();
    const again = await openForTest(await engine.open('p'));
    expect(again.transactions.state.isEmpty).toBe(true);
    await again.close();
  });

  test('who asks for an outcome that is not there aborts the transaction for good', async () => {
    const { engine, partition } = await prepared();
    const { transactions } = partition;
    expect(await transactions.isCommitted(ID, ABORTED)).toBe(false);
    expect(() => transactions.state.checkCommit(ID, [])).toThrow('Another transaction');
    await partition.close();
    const opened = await openForTest(await engine.open('p'));
    expect(() => opened.transactions.state.checkCommit(ID, [])).toThrow('Another transaction');
    opened.transactions.state.forget(ID);
    await opened.close();
    const again = await openForTest(await engine.open('p'));
    expect([...again.transactions.state.outcomes]).toEqual([]);
    await again.close();
  });
});

test('a write does not wait for ever', async () => {
  const partition = await openForTest(await memoryEngine().open('p'));
  await partition.transactions.prepare(ID, HEADER, [putOp(X, 'a', undefined)], { firstNumber: 1 });
  vi.useFakeTimers();
  try {
    const waiting = code(put(partition, 'upsert', X, 'c'));
    await vi.advanceTimersByTimeAsync(HELD_ITEM_WAIT_MS);
    expect(await waiting).toBe('retryWith');
  } finally {
    vi.useRealTimers();
  }
  await partition.transactions.resolve(ID, true);
  expect(textOf(await partition.read(X))).toBe('a');
  await partition.close();
});

describe('formats', () => {
  test('header', () => {
    const bytes = encodeHeader({ coordinator: fromHex('0102'), deadlineMs: 0x12345678 });
    expect(toHex(bytes)).toBe('0100000000123456780102');
    expect(decodeHeader(bytes)).toEqual({
      coordinator: Buffer.from([1, 2]),
      deadlineMs: 0x12345678,
    });
  });

  test('operations', () => {
    const primary = toHex(X.primary);
    const length = X.primary.length.toString(16).padStart(4, '0');
    const read = encodeOp({ kind: 'read', key: X });
    expect(toHex(read)).toBe(`0100${length}${primary}`);
    expect(decodeOp(read).key.text).toBe(X.text);
    const stored = { kind: 'put', key: X, encoding: 'bson', ttlSec: 9, flags: 2 } as const;
    const op = { kind: 'replace', key: X, put: { ...stored, body: fromHex('1234') } } as const;
    const bytes = encodeOp(op);
    expect(toHex(bytes)).toBe(`0103${length}${primary}0462736F6E00000009021234`);
    const decoded = decodeOp(bytes);
    expect(decoded).toMatchObject({
      kind: 'replace',
      put: { encoding: 'bson', ttlSec: 9, flags: 2 },
    });
    expect('put' in decoded && toHex(decoded.put.body)).toBe('1234');
  });

  test('outcome', () => {
    const participants = [fromHex('01'), fromHex('0203')];
    const outcome = { isCommitted: true, deadlineMs: 5, epk: fromHex('7788'), participants };
    const bytes = encodeOutcome(outcome);
    expect(toHex(bytes)).toBe('0101000000000000000500027788000200010100020203');
    const decoded = decodeOutcome(bytes);
    expect({
      ...decoded,
      participants: decoded.participants.map(toHex),
      epk: toHex(decoded.epk),
    }).toEqual({ ...outcome, participants: ['01', '0203'], epk: '7788' });
  });
});
