/** Rows of programs that have to ask somebody else: for many items at once, so that asking costs little per row. */
import type { Value } from '../value/index.ts';
import type { Row, Streaming } from './program.ts';
import type { Candidate, ItemReader } from './reader.ts';

export interface LaterRows {
  /** Both one per item, in order. */
  readonly documents: readonly Value[];
  readonly rows: readonly (readonly Row[])[];
}

/** Undefined at once where the program answers by itself, which is the rule. */
export function rowsLater(
  { rowsOfMany }: Streaming,
  reader: ItemReader,
  items: readonly Candidate[],
): Promise<LaterRows> | undefined {
  if (rowsOfMany === undefined) return undefined;
  const documents = items.map((item) => reader.decode(item));
  return rowsOfMany(documents).then((rows) => ({ documents, rows }));
}
