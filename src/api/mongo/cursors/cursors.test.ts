// Goal: cursors that keep too much are refused, and say what is true. Method: cursors that claim to keep it.
import { expect, test } from 'vitest';
import { FakeClock } from '../../../base/index.ts';
import { Meter } from '../documents/meter.ts';
import { Row } from '../documents/rows.ts';
import { CURSOR_BYTES_MAX } from '../limits.ts';
import { Cursor } from './cursor.ts';
import { Cursors } from './cursors.ts';

function keeping(bytes: number): Cursor {
  const rows = (async function* () {
    yield [Row.of(new Map())];
  })();
  const meter = new Meter();
  meter.heldBytes = bytes;
  return new Cursor(rows, { namespace: 'd.c', origin: 'find', meter });
}

test('documents that are kept without a sort are not called sorted', async () => {
  const cursors = new Cursors(new FakeClock(0));
  const owner = new Set<bigint>();
  const id = cursors.keep(keeping(CURSOR_BYTES_MAX), owner);
  const keep = () => cursors.keep(keeping(1), owner);
  expect(keep).toThrow(
    expect.objectContaining({
      mongoCode: 'ExceededMemoryLimit',
      message: expect.stringContaining('too many documents in memory'),
    }),
  );
  await cursors.kill(id);
  expect(keep).not.toThrow();
});
