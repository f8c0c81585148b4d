/** Writes whose collection is dropped meanwhile: they go on with what has its name then. */
import { DomainError } from '../../../../base/index.ts';
import type { Call } from '../../call.ts';
import { type Collection, ensureCollection, findCollection } from '../../collections/collection.ts';
import { type Change, changeDocuments } from '../../documents/change.ts';
import { type ChangeResult, NO_CHANGE } from '../../documents/change-result.ts';
import { mongoErrorOf } from '../../errors.ts';

/** Collections of one name that may be dropped, one after the other, during a write. */
const DROPS_MAX = 10;

/** A change of many documents ends where its collection is dropped, as in MongoDB. */
export async function changeWhereItIs(
  call: Call,
  collection: Collection,
  change: Change,
  place: number,
): Promise<ChangeResult> {
  const { store, retryable } = call;
  const run = (current: Collection): Promise<ChangeResult> =>
    changeDocuments(change, { store, collection: current, retryable, place });
  if (change.isMulti) return run(collection);
  return (await whereItIs(call, collection, change.isUpsert, run)) ?? NO_CHANGE;
}

/** What was inserted before a drop is gone with it, so all documents are inserted again. */
export async function insertWhereItIs<T>(
  call: Call,
  collection: Collection,
  run: (current: Collection) => Promise<T>,
): Promise<T> {
  return (await whereItIs(call, collection, true, run)) as T;
}

/** Undefined where there is no such collection any longer, and none is to be made. */
async function whereItIs<T>(
  { context: { service }, store }: Call,
  collection: Collection,
  isMade: boolean,
  run: (current: Collection) => Promise<T>,
): Promise<T | undefined> {
  let current = collection;
  for (let drops = 0; ; drops++)
    try {
      return await run(current);
    } catch (error) {
      if (store.isTransaction || drops >= DROPS_MAX || !isOfDrop(error)) throw error;
      const { namespace, container } = current;
      const next = findCollection(service, namespace);
      if (next?.container.rid === container.rid) throw error;
      if (next === undefined && !isMade) return undefined;
      current = next ?? (await ensureCollection(service, namespace));
    }
}

/** Whether it may have been the drop: then the collection is another one, or none. */
function isOfDrop(error: unknown): boolean {
  // The store of a partition is closed under what reads it; an engine that answers late says so.
  if (error instanceof DomainError && error.code === 'unavailable') return true;
  const { mongoCode } = mongoErrorOf(error);
  return mongoCode === 'QueryPlanKilled' || mongoCode === 'NamespaceNotFound';
}
