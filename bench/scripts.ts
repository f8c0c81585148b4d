/** The cost of scripts: a procedure against a batch, a function against a system function, reads during hostile scripts. */
import type { Load } from './compare.ts';
import { createScript, executeScript } from './http.ts';
import { FUNCTION, PROCEDURE } from './load/protocol.ts';
import type { BenchServer } from './servers/processes.ts';

export interface ScriptLoad {
  readonly title: string;
  readonly container: string;
  readonly load: Pick<Load, 'operation' | 'connections'>;
  /** Other work of the server meanwhile, until it is disposed. */
  readonly meanwhile?: () => AsyncDisposable;
}

const CREATE_ITEMS = `function (items) {
  const self = __.getSelfLink();
  for (const item of items)
    __.createDocument(self, item, (error) => {
      if (error) throw error;
    });
}`;

/** None of them ends by itself: the server stops them. */
const HOSTILE: Readonly<Record<string, string>> = {
  loop: '() => { for (;;); }',
  regex: '() => /^(a+)+$/.test("a".repeat(40) + "b")',
  memory:
    '() => { const a = []; for (;;) try { for (;;) a.push(new Array(1e5).fill(1)); } catch {} }',
};

const STOPPED = 408;

/**
 * Creates the scripts and returns the loads to measure.
 * @param written - takes what is created: a sum over all items of the other container shall not grow.
 */
export async function scriptLoads(
  { port }: BenchServer,
  { container, written }: { readonly container: string; readonly written: string },
): Promise<readonly ScriptLoad[]> {
  await createScript(port, written, { type: 'sprocs', id: PROCEDURE, body: CREATE_ITEMS });
  for (const [id, body] of Object.entries(HOSTILE))
    await createScript(port, container, { type: 'sprocs', id, body });
  const lengthOf = { type: 'udfs', id: FUNCTION, body: '(text) => text.length' } as const;
  await createScript(port, container, lengthOf);
  const one = { connections: 1 };
  const loads: ScriptLoad[] = [
    { title: 'batch of 10 creates', container: written, load: { operation: 'batchOfTen', ...one } },
    {
      title: 'procedure of 10 creates',
      container: written,
      load: { operation: 'procedure', ...one },
    },
    { title: 'sum over 10 k items', container, load: { operation: 'fold', ...one } },
    {
      title: 'sum over 10 k items, user defined',
      container,
      load: { operation: 'function', ...one },
    },
    { title: 'read', container, load: { operation: 'read', ...one } },
  ];
  for (const id of Object.keys(HOSTILE))
    loads.push({
      title: `read beside a hostile procedure (${id})`,
      container,
      load: { operation: 'read', ...one },
      meanwhile: () =>
        keepRunning(async () => {
          const status = await executeScript(port, container, id);
          if (status !== STOPPED) throw new Error(`hostile procedure ${id}: ${status}`);
        }),
    });
  return loads;
}

function keepRunning(work: () => Promise<unknown>): AsyncDisposable {
  let isOver = false;
  const running = (async () => {
    while (!isOver) await work();
  })();
  return {
    async [Symbol.asyncDispose]() {
      isOver = true;
      await running;
    },
  };
}
