/**
 * Updates by name: how a new state of an item is computed from what it is when the write is decided. An API registers
 * its updaters once and sends names and argument bytes, so that an update can be run again, or elsewhere.
 */
import { assert, type Bytes } from '../../../base/index.ts';
import type { Encoding, Value } from '../../../value/index.ts';
import type { Item } from '../../item/item.ts';
import type { NewBody } from './write-command.ts';

/** What a decision tells its caller beside the item: counts, or why nothing was written. */
export type UpdateReply = Value | Bytes;

/** How an update ends. `keep` writes nothing: it costs as much as a read. */
export type Outcome =
  | ({ readonly kind: 'put'; readonly reply?: UpdateReply } & NewBody)
  | { readonly kind: 'delete'; readonly reply?: UpdateReply }
  | { readonly kind: 'keep'; readonly reply?: UpdateReply };

/**
 * Pure and synchronous, because a decision may be made more than once; throws a DomainError to refuse.
 * @param current - the item of the update, then those of `alsoReads`; undefined where there is none.
 */
export type Updater = (
  current: readonly (Item | undefined)[],
  args: Bytes,
  context: UpdaterContext,
) => Outcome;

interface UpdaterContext {
  readonly nowMs: number;
}

/** By name. A name begins with that of its API, since a container may be written through several. */
export type Updaters = Readonly<Record<string, Updater>>;

/** What a decision needs to run updaters. */
export interface UpdateScope {
  readonly updaters: Updaters;
  nowMs(): number;
}

/**
 * The name of the updater that says what stays of expired items of an encoding, as a shadow; mostly there is none, and
 * nothing stays. It has no arguments. Until the sweeper has run it, decisions see the whole item as a shadow.
 */
export function expiryUpdater(encoding: Encoding, updaters: Updaters): string | undefined {
  const name = `${encoding}.expired`;
  return Object.hasOwn(updaters, name) ? name : undefined;
}

export function runUpdater(
  { updater: name, args }: { readonly updater: string; readonly args: Bytes },
  current: readonly (Item | undefined)[],
  { updaters, nowMs }: UpdateScope,
): Outcome {
  const updater = Object.hasOwn(updaters, name) ? updaters[name] : undefined;
  assert(updater !== undefined, `no API has an updater ${name}`);
  return updater(current, args, { nowMs: nowMs() });
}
