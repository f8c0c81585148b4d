/** One write command on its way through the committer, and how it ends. */
import { DomainError } from '../../base/index.ts';
import type { Item } from '../item/item.ts';
import type { WriteResult } from './command/effect.ts';
import type { WriteCommand } from './command/write-command.ts';
import type { LookedUp } from './looked-up.ts';
import type { WideFound } from './wide-writes.ts';

export interface Attempt {
  readonly command: WriteCommand;
  /** Called once, with a failure or with the result. */
  readonly complete: (failure: Error | undefined, result: WriteResult | undefined) => void;
  /** Unique values, notes and items that were looked up, for a decision that is made again. */
  lookedUp: LookedUp;
  /** Terms of wide items, found before the command is decided again. */
  wide: WideFound | undefined;
  /** Number of decisions that were dropped because those terms were missing. */
  wideWaits: number;
}

/** The items of a decision, in the order of the command's keys. */
export interface Decided {
  /** As stored, or as decided before. */
  readonly items: readonly (Item | undefined)[];
  /** The visible ones among them. */
  readonly current: readonly (Item | undefined)[];
}

/** The refusal of a write that was not sent to the store. */
export function unavailable(cause: Error): DomainError {
  if (cause instanceof DomainError && cause.code !== 'outcomeUnknown') return cause;
  return new DomainError('unavailable', `The partition's store failed: ${cause.message}`);
}

/** The answer to a write whose commit goes on although replicas are missing. */
export function unacknowledged(): DomainError {
  const text = 'Too few replicas have acknowledged the write; it may take effect later.';
  return new DomainError('outcomeUnknown', text);
}
