/** Changes of lists by index or value: resolved against the list as it is, to cells of its elements. */
import { bytesToLatin1, equalBytes } from '../../../base/index.ts';
import { invalid } from '../errors.ts';
import { type Live, liveElements } from './live-row.ts';
import { mergeCells, mergeRows } from './merge.ts';
import type { ListChange } from './mutation.ts';
import type { Cell, Column, Deletion, Row } from './row.ts';

/** The change with the cells that its changes of lists come down to. Each sees what the ones before it have done. */
export function withListChanges(
  change: Row,
  lists: readonly ListChange[],
  stored: Row | undefined,
  over: Deletion | undefined,
): Row {
  let changed = change;
  for (const list of lists) {
    const { column: name, type, nowSec } = list;
    const found = liveElements(mergeRows(stored, changed), name, over, nowSec);
    const before = changed.columns.get(name);
    const elements = new Map(before?.elements);
    for (const [path, cell] of changedCells(list, found))
      elements.set(path, mergeCells(elements.get(path), cell));
    const column: Column = { ...before, type, elements };
    changed = { ...changed, columns: new Map(changed.columns).set(name, column) };
  }
  return changed;
}

function changedCells(list: ListChange, found: Live): readonly (readonly [string, Cell])[] {
  const { kind, index, values, timestamp, ttlSec, nowSec } = list;
  const tombstone: Cell = { timestamp, value: undefined, ttlSec: 0, localSec: nowSec };
  if (kind === 'put') return putCells(list);
  if (kind === 'discard')
    return found
      .filter(([, { value }]) =>
        values.some((one) => value !== undefined && equalBytes(one, value)),
      )
      .map(([path]) => [path, tombstone] as const);
  if (found.length === 0)
    throw invalid(
      kind === 'setAt'
        ? 'Attempted to set an element on a list which is null'
        : 'Attempted to delete an element from a list which is null',
    );
  const at = found[index];
  if (at === undefined)
    throw invalid(`List index ${index} out of bound, list has size ${found.length}`);
  const [value] = values;
  if (kind === 'deleteAt' || value === undefined) return [[at[0], tombstone]];
  const localSec = ttlSec === 0 ? 0 : nowSec + ttlSec;
  return [[at[0], { timestamp, value, ttlSec, localSec }]];
}

/** New elements that come behind a change by index or value of the same statement. */
function putCells({ values, ...list }: ListChange): readonly (readonly [string, Cell])[] {
  const { timestamp, ttlSec, nowSec } = list;
  const localSec = ttlSec === 0 ? 0 : nowSec + ttlSec;
  return values.flatMap((value, at) => {
    const path = values[at - 1];
    return at % 2 === 0 || path === undefined
      ? []
      : [[bytesToLatin1(path), { timestamp, value, ttlSec, localSec }] as const];
  });
}
