/** The text that a realm compiles to one function: our code around that of the client. */
import { makeBytes } from './guest/guest-bytes.ts';
import { addGlobals } from './guest/guest-globals.ts';
import { makeIds } from './guest/guest-ids.ts';
import { type AccumulatorSources, makeKinds, type ScriptKind } from './guest/guest-kinds.ts';
import { makeNumbers } from './guest/guest-numbers.ts';
import { makePrinter } from './guest/guest-printer.ts';
import { makeReader } from './guest/guest-reader.ts';

/** What a client wrote, with its variables as the sandbox takes them. */
export interface ClientScript {
  readonly kind: ScriptKind;
  readonly source: string | AccumulatorSources;
  /** JSON text of a document. */
  readonly scope?: string | undefined;
}

/** All functions of a realm share one set of types; it is made with the first. */
const LIBRARY = `(globalThis.__bson ??= (() => {
  const numbers = (${makeNumbers})();
  const ids = (${makeIds})(numbers);
  const bytes = (${makeBytes})(numbers);
  const { Value, ...kinds } = numbers;
  (${addGlobals})({ ...kinds, ...ids, ...bytes });
  const integers = new WeakMap();
  const read = (${makeReader})({ ...numbers, ...ids, ...bytes }, integers);
  return (${makeKinds})(read, (${makePrinter})(numbers, integers));
})())`;

export function sourceOf({ kind, source, scope = 'null' }: ClientScript): string {
  return `${LIBRARY}.wrap(${JSON.stringify(kind)}, ${JSON.stringify(source)}, ${scope})`;
}
