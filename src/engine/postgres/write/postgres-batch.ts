/** From a batch to the steps that apply it: one statement, or several where it expects something or deletes ranges. */
import { type Bytes, bytesToLatin1, concatBytes } from '../../../base/index.ts';
import type { Batch } from '../../engine.ts';
import { byteaArray, int8 } from '../connect/postgres-messages.ts';
import type { Step } from '../connect/postgres-session.ts';
import type { StoreStatements } from '../postgres-statements.ts';

interface BatchContext {
  readonly statements: StoreStatements;
  readonly id: number;
  readonly fence: number;
}

interface BatchSteps {
  readonly steps: readonly Step[];
  /** Number of the step that fails where an expectation does not hold; -1 where there is none. */
  readonly expectStep: number;
}

/** The first step fails, or the only one counts no row, where the fence is another one. */
export function batchSteps(batch: Batch, { statements, id, fence }: BatchContext): BatchSteps {
  const { expects = [], deleteRanges = [] } = batch;
  const steps: Step[] = [];
  const head = [int8(id), int8(fence)];
  let expectStep = -1;
  if (expects.length > 0 || deleteRanges.length > 0)
    steps.push({ statement: statements.fence, parameters: head });
  if (expects.length > 0) {
    const keys = byteaArray(expects.map(({ key }) => key));
    // Locked in a statement before: one that did both would check the state from before it waited for the lock.
    steps.push({ statement: statements.lockExpected, parameters: [keys] });
    expectStep = steps.length;
    const values = byteaArray(expects.map(({ value }) => value));
    steps.push({ statement: statements.checkExpected, parameters: [keys, values] });
  }
  for (const { start, end } of deleteRanges)
    steps.push(
      end === undefined
        ? { statement: statements.deleteFrom, parameters: [start] }
        : { statement: statements.deleteRange, parameters: [start, end] },
    );
  const { deletes, puts, appends } = folded(batch);
  const parts = { deletes: deletes.length > 0, puts: puts.size > 0, appends: appends.size > 0 };
  if (steps.length > 0 && !parts.deletes && !parts.puts && !parts.appends)
    return { steps, expectStep };
  const parameters: Uint8Array[] = [...head];
  if (parts.deletes) parameters.push(byteaArray(deletes));
  for (const changes of [puts, appends])
    if (changes.size > 0) {
      const list = [...changes.values()];
      parameters.push(byteaArray(list.map(({ key }) => key)));
      parameters.push(byteaArray(list.map(({ value }) => value)));
    }
  steps.push({ statement: statements.write(parts), parameters });
  return { steps, expectStep };
}

interface Change {
  readonly key: Bytes;
  readonly value: Bytes;
}

interface Folded {
  readonly deletes: readonly Bytes[];
  readonly puts: ReadonlyMap<string, Change>;
  readonly appends: ReadonlyMap<string, Change>;
}

/** One change for each key: parts of a statement do not see each other's changes. */
function folded(batch: Batch): Folded {
  const puts = new Map<string, Change>();
  const appends = new Map<string, Change>();
  const deleted = new Map<string, Bytes>();
  for (const key of batch.deletes ?? []) deleted.set(bytesToLatin1(key), key);
  for (const { key, value } of batch.puts ?? []) {
    const name = bytesToLatin1(key);
    puts.set(name, { key, value });
    deleted.delete(name);
  }
  for (const { key, value } of batch.appends ?? []) {
    const name = bytesToLatin1(key);
    const before = puts.get(name);
    if (before !== undefined) puts.set(name, { key, value: concatBytes(before.value, value) });
    else if (deleted.delete(name)) puts.set(name, { key, value });
    else {
      const added = appends.get(name);
      const whole = added === undefined ? value : concatBytes(added.value, value);
      appends.set(name, { key, value: whole });
    }
  }
  return { deletes: [...deleted.values()], puts, appends };
}
