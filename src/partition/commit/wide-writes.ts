/**
 * Finds the index terms of wide items before a write is decided, so that the decision takes no longer than that of any
 * other write. The terms are kept with the attempt, because the item may change before the next decision.
 */
import { type Bytes, equalBytes, type SlicedWork, type Steps } from '../../base/index.ts';
import type { Indexing } from '../index/terms/indexing.ts';
import {
  WIDE_BYTES,
  type WideDifference,
  type WideTerms,
  wideDifference,
} from '../index/terms/wide-terms.ts';
import type { Item, ItemKey } from '../item/item.ts';
import type { Attempt } from './attempt.ts';
import { isInternal, type Mutation, visible } from './command/write-command.ts';

/** The terms of one mutation whose item is wide before or after it. */
export interface WideChange {
  /** The item before, whose terms are `before`. */
  readonly previous: Item | undefined;
  readonly before: WideTerms | undefined;
  /** Without the properties of the body finisher, unless the item is moved as it is. */
  readonly after: WideTerms | undefined;
  /** Set where both are wide. */
  readonly difference: WideDifference | undefined;
}

/** Terms that an attempt has found so far, under one policy. */
export class WideFound {
  readonly indexing: Indexing;
  readonly #items = new Map<string, WideTerms>();
  readonly #bodies: { readonly body: Bytes; readonly terms: WideTerms }[] = [];
  readonly #differences = new Map<WideTerms, { after: WideTerms; difference: WideDifference }>();

  constructor(indexing: Indexing) {
    this.indexing = indexing;
  }

  ofItem(item: Item): WideTerms | undefined {
    return this.#items.get(nameOf(item));
  }

  /** Compares bytes, because an update makes its body again with every decision. */
  ofBody(body: Bytes): WideTerms | undefined {
    return this.#bodies.find((found) => found.body === body || equalBytes(found.body, body))?.terms;
  }

  difference(before: WideTerms, after: WideTerms): WideDifference | undefined {
    const found = this.#differences.get(before);
    return found?.after === after ? found.difference : undefined;
  }

  *find({ previous, item, body }: Transition): Steps<void> {
    const before = previous && (this.ofItem(previous) ?? (yield* this.#findItem(previous)));
    const after = item
      ? (this.ofItem(item) ?? (yield* this.#findItem(item)))
      : body && (this.ofBody(body) ?? (yield* this.#findBody(body)));
    if (before === undefined || after === undefined || previous === undefined) return;
    const difference = yield* wideDifference(before, after, previous.rid);
    this.#differences.set(before, { after, difference });
  }

  *#findItem(item: Item): Steps<WideTerms> {
    const terms = yield* this.indexing.findAhead(item.body, item.rid);
    this.#items.set(nameOf(item), terms);
    return terms;
  }

  *#findBody(body: Bytes): Steps<WideTerms> {
    const terms = yield* this.indexing.findAhead(body, undefined);
    this.#bodies.push({ body, terms });
    return terms;
  }
}

/** The wide ones among the item before, the item after, and the body that it will have. */
interface Transition {
  readonly previous: Item | undefined;
  readonly item: Item | undefined;
  readonly body: Bytes | undefined;
}

/** The result of a decision. */
interface DecidedWrite {
  readonly current: readonly (Item | undefined)[];
  readonly mutations: readonly Mutation[];
}

/**
 * The wide changes by mutation. Undefined where none is wide: the usual case, which costs two comparisons. A promise
 * where terms have to be found before the command is decided again.
 */
export function wideChanges(
  attempt: Attempt,
  write: DecidedWrite,
  indexing: Indexing,
  work: SlicedWork,
): readonly (WideChange | undefined)[] | Promise<unknown> | undefined {
  if (isSmall(write)) return undefined;
  const transitions = transitionsOf(attempt.command.keys, write, indexing);
  if (transitions === undefined) return undefined;
  if (attempt.wide?.indexing !== indexing) attempt.wide = new WideFound(indexing);
  const found = attempt.wide;
  const missing: Transition[] = [];
  const changes = transitions.map((transition) => {
    if (transition === undefined) return undefined;
    const change = changeOf(transition, found);
    if (change === undefined) missing.push(transition);
    return change;
  });
  if (missing.length === 0) return changes;
  attempt.wideWaits++;
  return work.run(findAll(missing, found));
}

function* findAll(transitions: readonly Transition[], found: WideFound): Steps<void> {
  for (const transition of transitions) yield* found.find(transition);
}

function isSmall({ current, mutations }: DecidedWrite): boolean {
  for (let at = 0; at < current.length; at++)
    if ((current[at]?.body.length ?? 0) >= WIDE_BYTES) return false;
  for (let at = 0; at < mutations.length; at++)
    if ((bodyOf(mutations[at] as Mutation)?.length ?? 0) >= WIDE_BYTES) return false;
  return true;
}

function bodyOf(mutation: Mutation): Bytes | undefined {
  if (mutation.kind === 'import') return mutation.item.body;
  return mutation.kind === 'put' || mutation.kind === 'stamped' ? mutation.body : undefined;
}

function transitionsOf(
  keys: readonly ItemKey[],
  { current, mutations }: DecidedWrite,
  indexing: Indexing,
): readonly (Transition | undefined)[] | undefined {
  let isAny = false;
  const places = new Map(keys.map(({ text }, at) => [text, at]));
  const counts = new Map<string, number>();
  for (const { key } of mutations) counts.set(key.text, (counts.get(key.text) ?? 0) + 1);
  const transitions = mutations.map((mutation): Transition | undefined => {
    const { text } = mutation.key;
    // An item that is written twice in one command is indexed without slices.
    if (counts.get(text) !== 1) return undefined;
    const before = visible(current[places.get(text) ?? -1]);
    if (isInternalWrite(mutation) && before === undefined) return undefined;
    const isReindexed = mutation.kind === 'reindex';
    // One declared index has few entries of an item.
    if (isReindexed && mutation.index !== undefined) return undefined;
    const previous =
      before !== undefined && !isReindexed && indexing.isAhead(before.body) ? before : undefined;
    const after = isInternalWrite(mutation) ? undefined : mutation;
    const item = isReindexed ? before : after?.kind === 'import' ? after.item : undefined;
    const body = after?.kind === 'put' || after?.kind === 'stamped' ? after.body : undefined;
    const isItemWide = item !== undefined && indexing.isAhead(item.body);
    const isBodyWide = body !== undefined && indexing.isAhead(body);
    if (previous === undefined && !isItemWide && !isBodyWide) return undefined;
    isAny = true;
    return {
      previous,
      item: isItemWide ? item : undefined,
      body: isBodyWide ? body : undefined,
    };
  });
  return isAny ? transitions : undefined;
}

/** Whether a mutation stores a shadow or a header, which no index has. */
function isInternalWrite(mutation: Mutation): boolean {
  if (mutation.kind === 'put') return isInternal(mutation);
  return (mutation.kind === 'stamped' || mutation.kind === 'import') && mutation.item.isInternal;
}

/** Undefined where some of its terms are not found yet. */
function changeOf({ previous, item, body }: Transition, found: WideFound): WideChange | undefined {
  const before = previous && found.ofItem(previous);
  const after = item ? found.ofItem(item) : body && found.ofBody(body);
  const isFound =
    (previous === undefined || before !== undefined) &&
    ((item ?? body) === undefined || after !== undefined);
  if (!isFound) return undefined;
  if (before === undefined || after === undefined)
    return { previous, before, after, difference: undefined };
  const difference = found.difference(before, after);
  return difference && { previous, before, after, difference };
}

/** Names one version of one item; rids are never reused. */
function nameOf({ rid, lsn, version }: Item): string {
  return `${rid}.${lsn}.${version.operation}`;
}
