/** A write on its way through the committer, and how it ends. */
import { DomainError } from '../../base/index.ts';
import type { Item } from '../item/item.ts';
import type { WriteResult } from './effect.ts';
import type { LookedUp } from './unique-claims.ts';
import type { WideFound } from './wide-writes.ts';
import type { WriteCommand } from './write-command.ts';

export interface Attempt {
  readonly command: WriteCommand;
  /** Called once, with the reason why not or with what was done. */
  readonly complete: (failure: Error | undefined, result: WriteResult | undefined) => void;
  /** What was looked up so far, where it has to be decided again. */
  lookedUp: LookedUp;
  /** Index entries of wide items, found before it is decided again. */
  wide: WideFound | undefined;
  /** How often it was decided in vain because they were missing. */
  wideWaits: number;
}

/** The items that a decision looks at, by the keys of its intent. */
export interface Decided {
  /** As stored, or decided before. */
  readonly items: readonly (Item | undefined)[];
  /** Those of them that are there. */
  readonly current: readonly (Item | undefined)[];
}

/** Shared by writes that look nothing up. */
export const NOTHING_LOOKED_UP: LookedUp = new Map();

export function unavailable(cause: Error): DomainError {
  if (cause instanceof DomainError) return cause;
  return new DomainError('unavailable', `The partition's store failed: ${cause.message}`);
}
