/** One write command on its way through the committer, and how it ends. */
import { DomainError } from '../../base/index.ts';
import type { Item } from '../item/item.ts';
import type { WriteResult } from './effect.ts';
import type { LookedUp } from './unique-claims.ts';
import type { WideFound } from './wide-writes.ts';
import type { WriteCommand } from './write-command.ts';

export interface Attempt {
  readonly command: WriteCommand;
  /** Called once, with a failure or with the result. */
  readonly complete: (failure: Error | undefined, result: WriteResult | undefined) => void;
  /** Unique values and items that were looked up, for a decision that is made again. */
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

/** The empty map, shared by all writes that look nothing up. */
export const NOTHING_LOOKED_UP: LookedUp = new Map();

export function unavailable(cause: Error): DomainError {
  if (cause instanceof DomainError) return cause;
  return new DomainError('unavailable', `The partition's store failed: ${cause.message}`);
}
