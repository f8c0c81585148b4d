/**
 * Several writes of one physical partition as one command, in order. Each sees the items as those before it would store
 * them. The mode says what a refused one means for the others.
 */
import { type Bytes, DomainError } from '../../../base/index.ts';
import type { Epk } from '../../../value/index.ts';
import type { Item } from '../../item/item.ts';
import { encodeNote, noteKey, type WriteNote } from '../../notes/note.ts';
import {
  type OperationEffect,
  OperationPlan,
  OperationRun,
  type StepCheck,
} from './operation-run.ts';
import type { ItemOp, WriteCommand } from './write-command.ts';

/**
 * all: a refused write refuses all. untilRefused: those before a refused one stay, those after it are not run. each: every
 * write stands for itself.
 */
export type SequenceMode = 'all' | 'untilRefused' | 'each';

/** The end of one write of a sequence. */
export type StepResult =
  | { readonly effect: OperationEffect }
  | { readonly error: DomainError }
  | { readonly notRun: true };

interface Sequence {
  readonly command: WriteCommand;
  /** One per write, in order; filled at the decision. */
  readonly results: readonly StepResult[];
}

const NOT_RUN: StepResult = { notRun: true };

interface SequenceOptions {
  /** Makes the check of every write for one decision. */
  readonly newCheck?: (() => StepCheck) | undefined;
  /** Notes that are stored where at least one write is done. */
  readonly notes?: readonly KeyNote[] | undefined;
}

/** A note of any partition key of the partition. */
export interface KeyNote extends WriteNote {
  readonly epk: Epk;
  readonly bytes: Bytes;
}

/** Makes a sequence for one attempt; a retry needs another one. */
export function sequenceOf(
  ops: readonly ItemOp[],
  mode: SequenceMode,
  { newCheck, notes = [] }: SequenceOptions = {},
): Sequence {
  const plan = new OperationPlan(ops);
  const results: StepResult[] = [];
  const decide: WriteCommand['decide'] = (current: readonly (Item | undefined)[], context) => {
    results.length = 0;
    const run = new OperationRun(plan, current, context, newCheck?.());
    for (let at = 0; at < ops.length; at++)
      try {
        results.push({ effect: run.step(at) });
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (mode === 'all') {
          results.length = 0;
          for (let before = 0; before < at; before++) results.push(NOT_RUN);
        }
        results.push({ error });
        if (mode === 'each') continue;
        while (results.length < ops.length) results.push(NOT_RUN);
        if (mode === 'untilRefused') break;
        context.notes.drop();
        return [];
      }
    if (results.some((result) => 'effect' in result))
      for (const { epk, owner, bytes, expiresAtSec } of notes)
        context.notes.put(noteKey(epk, owner), encodeNote(bytes, expiresAtSec));
    return run.mutations;
  };
  const usesNotes = plan.usesNotes || notes.length > 0;
  return { command: { keys: plan.keys, usesNotes, decide }, results };
}
