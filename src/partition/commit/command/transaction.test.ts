// Goal: a transaction is one decision: all or nothing, its operations see one another, a refusal names the operation.
// Method: lists of operations on a partition, on synchronous and asynchronous engines.
import { describe, expect, test } from 'vitest';
import { bytesToText, DomainError, textToBytes } from '../../../base/index.ts';
import { asyncEngine } from '../../../engine/async-engine.ts';
import type { Engine } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import type { Item, ItemKey } from '../../item/item.ts';
import type { Partition } from '../../partition.ts';
import { keyOf, openForTest, put, putOp, textOf } from '../../test-kit.ts';
import type { TransactionOp } from './operation-run.ts';
import { type ResponseBound, TransactionError, transactionOf, updateOf } from './transaction.ts';
import type { Updaters } from './updater.ts';
import type { UpdateOp } from './write-command.ts';

const engines: readonly [string, () => Engine][] = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
];

const KEY = keyOf('a', '1');
const OTHER = keyOf('a', '2');

const remove = (key: ItemKey): TransactionOp => ({ kind: 'delete', key });
const read = (key: ItemKey, ifNoneMatch?: string): TransactionOp => ({
  kind: 'read',
  key,
  ifNoneMatch,
});
const update = (
  updater: string,
  key: ItemKey,
  text: string,
  changes: Partial<UpdateOp> = {},
): UpdateOp => ({
  kind: 'update',
  key,
  encoding: 'json',
  createsAbsent: true,
  updater,
  args: textToBytes(text),
  ...changes,
});
const append = (key: ItemKey, text: string, createsAbsent = false): TransactionOp =>
  update('append', key, text, { createsAbsent });

const updaters: Updaters = {
  append: ([current], args) => ({
    kind: 'put',
    body: textToBytes(`${textOf(current) ?? ''}${bytesToText(args)}`),
    ttlSec: 0,
  }),
  refuse: () => {
    throw new DomainError('invalidInput', 'no');
  },
  /** Deletes the item where its text is that of the arguments, and tells what it found. */
  deleteIf: ([current], args) =>
    textOf(current) === bytesToText(args)
      ? { kind: 'delete', reply: 'same' }
      : { kind: 'keep', reply: { found: textOf(current) } },
  /** Writes the texts of all items that it sees. */
  join: (current, _args, { nowMs }) => ({
    kind: 'put',
    body: textToBytes(current.map(textOf).join(',')),
    ttlSec: 0,
    reply: nowMs,
  }),
};

async function run(partition: Partition, ops: readonly TransactionOp[], response?: ResponseBound) {
  const { command, effects } = transactionOf(ops, { response });
  const { lsn } = await partition.write(command);
  return { lsn, effects };
}

async function updated(partition: Partition, op: UpdateOp) {
  const { command, effects } = updateOf(op);
  const { lsn } = await partition.write(command);
  const [effect] = effects;
  return { lsn, kind: effect?.kind, text: textOf(effect?.item), reply: effect?.reply };
}

const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'ok',
    (error: unknown) =>
      error instanceof TransactionError ? `${error.operation} ${error.code}` : error,
  );

describe.each(engines)('transactions on the %s engine', (_, makeEngine) => {
  const open = async () => openForTest(await makeEngine().open('partition'), { updaters });

  test('reads see a transaction of many items at once, whatever was cached before', async () => {
    const partition = await open();
    const keys = Array.from({ length: 40 }, (_, n) => keyOf('a', `${n}`));
    const texts = async () =>
      Promise.all(keys.map(async (key) => textOf(await partition.read(key))));
    await put(partition, 'create', keys[0] as ItemKey, 'alone');
    await run(
      partition,
      keys.slice(1).map((key) => putOp('create', key, 'first')),
    );
    expect(await texts()).toEqual(['alone', ...Array(39).fill('first')]);
    await run(
      partition,
      keys.map((key, n) => (n % 4 === 3 ? remove(key) : append(key, '+'))),
    );
    const changed = keys.map((_, n): string | undefined =>
      n % 4 === 3 ? undefined : n === 0 ? 'alone+' : 'first+',
    );
    expect(await texts()).toEqual(changed);
    await put(partition, 'replace', keys[1] as ItemKey, 'again');
    expect(await texts()).toEqual(changed.with(1, 'again'));
  });

  test('operations on one id see one another in order', async () => {
    const partition = await open();
    const { effects } = await run(partition, [
      putOp('create', KEY, 'one'),
      read(KEY),
      append(KEY, '+two'),
      putOp('replace', KEY, 'three'),
      remove(KEY),
      putOp('create', KEY, 'four'),
      append(OTHER, 'new', true),
    ]);
    expect(effects.map(({ kind }) => kind)).toEqual([
      'created',
      'read',
      'replaced',
      'replaced',
      'deleted',
      'created',
      'created',
    ]);
    expect(effects.map(({ item }) => textOf(item))).toEqual([
      'one',
      'one',
      'one+two',
      'three',
      undefined,
      'four',
      'new',
    ]);
    const stored = (await partition.read(KEY)) as Item;
    expect(stored.etag).toBe(effects[5]?.item?.etag);
    expect(stored.rid).toBe(effects[5]?.item?.rid);
    expect(new Set(effects.slice(0, 4).map(({ item }) => item?.etag)).size).toBe(3);
    expect(partition.statistics().itemCount).toBe(2);
  });

  test('a refused operation leaves nothing and is named', async () => {
    const partition = await open();
    await put(partition, 'create', KEY, 'old');
    const before = partition.lsn;
    const ops = [
      putOp('create', OTHER, 'x'),
      putOp('replace', KEY, 'new'),
      putOp('create', KEY, 'again'),
    ];
    expect(await refusal(run(partition, ops))).toBe('2 itemExists');
    expect(textOf(await partition.read(KEY))).toBe('old');
    expect(await partition.read(OTHER)).toBe(undefined);
    expect(partition.lsn).toBe(before);
    expect(partition.statistics().itemCount).toBe(1);
  });

  test('conditions are checked at the decision', async () => {
    const partition = await open();
    const created = await put(partition, 'create', KEY, 'old');
    const etag = created?.item?.etag as string;
    const expectEtag = (key: ItemKey, value: string | undefined): TransactionOp => ({
      kind: 'expect',
      key,
      etag: value,
    });
    expect(
      await refusal(run(partition, [expectEtag(KEY, etag), expectEtag(OTHER, undefined)])),
    ).toBe('ok');
    expect(await refusal(run(partition, [expectEtag(OTHER, etag)]))).toBe('0 preconditionFailed');
    expect(await refusal(run(partition, [expectEtag(KEY, undefined)]))).toBe(
      '0 preconditionFailed',
    );
    expect(await refusal(run(partition, [read(KEY), putOp('replace', KEY, 'x', '"other"')]))).toBe(
      '1 preconditionFailed',
    );
    const { effects } = await run(partition, [read(KEY, etag)]);
    expect(effects[0]?.kind).toBe('notModified');
    expect(await refusal(run(partition, [read(OTHER)]))).toBe('0 itemNotFound');
    expect(await refusal(run(partition, [append(OTHER, 'x')]))).toBe('0 itemNotFound');
  });

  test('a transaction that only reads makes no LSN, and waits for the write it read', async () => {
    const partition = await open();
    const writing = put(partition, 'create', KEY, 'new');
    const reading = run(partition, [read(KEY)]);
    const [{ effects, lsn }] = await Promise.all([reading, writing]);
    expect([textOf(effects[0]?.item), lsn, partition.lsn]).toEqual(['new', 1, 1]);
  });

  test('a function that refuses is the refusal of its operation', async () => {
    const partition = await open();
    const op = update('refuse', KEY, '');
    expect(await refusal(run(partition, [putOp('upsert', OTHER, 'x'), op]))).toBe('1 invalidInput');
    await expect(updated(partition, op)).rejects.toMatchObject({ code: 'invalidInput' });
    expect(await partition.read(OTHER)).toBe(undefined);
  });

  test('an update ends in put, delete or keep, each with its reply', async () => {
    const partition = await open();
    await put(partition, 'create', KEY, 'a');
    expect(await updated(partition, update('deleteIf', KEY, 'b'))).toEqual({
      lsn: 1,
      kind: 'kept',
      text: 'a',
      reply: { found: 'a' },
    });
    expect(await updated(partition, update('deleteIf', OTHER, 'b'))).toMatchObject({
      kind: 'kept',
      text: undefined,
      reply: { found: undefined },
    });
    expect(await updated(partition, update('deleteIf', KEY, 'a'))).toEqual({
      lsn: 2,
      kind: 'deleted',
      text: undefined,
      reply: 'same',
    });
    expect(await updated(partition, update('append', KEY, 'c'))).toMatchObject({
      lsn: 3,
      kind: 'created',
      text: 'c',
    });
    const { effects } = await run(partition, [
      update('deleteIf', KEY, 'x'),
      append(KEY, '+'),
      update('deleteIf', KEY, 'c+'),
    ]);
    expect(effects.map(({ kind, reply }) => [kind, reply])).toEqual([
      ['kept', { found: 'c' }],
      ['replaced', undefined],
      ['deleted', 'same'],
    ]);
    expect([partition.lsn, partition.statistics().itemCount]).toEqual([4, 0]);
  });

  test('an update that keeps is answered when what it saw is durable, and commits nothing', async () => {
    const partition = await open();
    const order: string[] = [];
    const writing = put(partition, 'create', KEY, 'new').then(() => order.push('written'));
    const keeping = updated(partition, update('deleteIf', KEY, 'old')).then((result) => {
      order.push('kept');
      expect(partition.lsn).toBe(1);
      return result;
    });
    expect((await keeping).reply).toEqual({ found: 'new' });
    await writing;
    expect(order).toEqual(['written', 'kept']);
    expect(partition.lsn).toBe(1);
  });

  test('an update sees other items of its partition key, as decided before', async () => {
    const partition = await open();
    await put(partition, 'create', OTHER, 'header');
    const alsoReads = [OTHER, keyOf('a', '3')];
    const writing = put(partition, 'replace', OTHER, 'second');
    const seen = await updated(partition, update('join', KEY, '', { alsoReads }));
    expect([seen.text, seen.reply]).toEqual([',second,', 1_000_000]);
    await writing;
    const { effects } = await run(partition, [
      putOp('replace', OTHER, 'third'),
      update('join', KEY, '', { alsoReads }),
    ]);
    expect(textOf(effects[1]?.item)).toBe(',second,,third,');
  });

  test('the operation that exceeds the response bound refuses all; unwanted items do not count', async () => {
    const partition = await open();
    // Sizes in thousands, since a stored body is little longer than the written one.
    const text = (length: number) => 'x'.repeat(length * 1000);
    const { effects } = await run(partition, [putOp('create', KEY, text(4))]);
    const etag = effects[0]?.item?.etag;
    const stored = async () => textOf(await partition.read(KEY))?.length;
    const ops = [
      putOp('create', OTHER, text(7)),
      read(KEY, etag),
      remove(OTHER),
      read(KEY),
      append(KEY, text(2)),
      read(KEY),
    ];
    const outcome = (bytesMax: number, ...unwanted: readonly number[]) =>
      refusal(
        run(partition, ops, { bytesMax, isWanted: ops.map((_, at) => !unwanted.includes(at)) }),
      );
    for (const [bytesMax, at] of [
      [6_900, 0],
      [10_900, 3],
      [16_900, 4],
      [22_900, 5],
    ] as const)
      expect(await outcome(bytesMax)).toBe(`${at} responseTooLarge`);
    expect(await outcome(9_900, 0, 4)).toBe('5 responseTooLarge');
    expect([await stored(), partition.lsn]).toEqual([4_000, 1]);
    expect(await outcome(10_900, 0, 4)).toBe('ok');
    expect(await stored()).toBe(6_000);
  });

  test('one item cannot be written more often than etags can distinguish', async () => {
    const partition = await open();
    const ops = Array.from({ length: 129 }, () => putOp('upsert', KEY, 'x'));
    expect(await refusal(run(partition, ops))).toBe('128 invalidInput');
    const { effects } = await run(partition, ops.slice(0, 128));
    expect(new Set(effects.map(({ item }) => item?.etag)).size).toBe(128);
  });
});
