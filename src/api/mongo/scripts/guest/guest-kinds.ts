/** Inside the sandbox: functions of clients, as each operator calls them. */
/** How a function is called: what it gets, and what becomes of its result. */
export type ScriptKind = 'call' | 'where' | 'accumulate' | 'map' | 'reduce' | 'finalize';

/** The functions of `$accumulator`. */
export interface AccumulatorSources {
  readonly init: string;
  readonly accumulate: string;
  readonly finalize: string | undefined;
}

type Run = (this: unknown, ...args: unknown[]) => unknown;

interface GuestKinds {
  /** @param scope - variables of the client, as the host sends documents. */
  wrap(kind: ScriptKind, source: unknown, scope: unknown): (...sent: unknown[]) => unknown;
}

/**
 * @param revive - what the host sent, as scripts see it.
 * @param print - the form in which a result goes to the host.
 */
export function makeKinds(
  revive: (value: unknown) => unknown,
  print: (value: unknown) => unknown,
): GuestKinds {
  const { eval: evaluate } = globalThis;
  let emitted: unknown[] = [];
  const define = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };

  const compile = (source: string): Run => {
    const run: unknown = evaluate(`(${source}\n)`);
    if (typeof run !== 'function') throw new TypeError('the script is not a function');
    return run as Run;
  };

  /** An expression, statements with a return, or a whole function. */
  const compileCondition = (source: string): Run => {
    const text = source.trim().replace(/;+$/, '');
    if (/^(async\s+)?function\b/.test(text) || /^\(?[\w$,\s]*\)?\s*=>/.test(text))
      return compile(text);
    return compile(
      /\breturn\b/.test(text) ? `function () { ${text}\n}` : `function () { return (${text}\n); }`,
    );
  };

  const wrapAccumulator = ({ init, accumulate, finalize }: AccumulatorSources) => {
    let runs: { readonly init: Run; readonly add: Run; readonly end: Run | undefined } | undefined;
    return (sent: unknown, calls: unknown, isLast: unknown): unknown => {
      runs ??= {
        init: compile(init),
        add: compile(accumulate),
        end: finalize === undefined ? undefined : compile(finalize),
      };
      const [isStarted, from] = sent as [boolean, unknown];
      let state = isStarted ? revive(from) : runs.init(...(revive(from) as unknown[]));
      for (const args of calls as unknown[])
        state = runs.add(state, ...(revive(args) as unknown[]));
      if (isLast === true && runs.end !== undefined) state = runs.end(state);
      return print(state);
    };
  };

  return {
    wrap(kind, source, scope) {
      if (kind === 'accumulate') return wrapAccumulator(source as AccumulatorSources);
      let run: Run | undefined;
      const compiled = (): Run => {
        if (run !== undefined) return run;
        const variables = revive(scope) as Record<string, unknown>;
        for (const name of Object.keys(variables ?? {})) define(name, variables[name]);
        if (kind === 'map')
          define('emit', (...pair: unknown[]) => {
            if (pair.length !== 2) throw new Error('emit takes 2 args');
            emitted.push([pair[0], pair[1]]);
          });
        run = kind === 'where' ? compileCondition(source as string) : compile(source as string);
        return run;
      };
      switch (kind) {
        case 'call':
          return (args) => print(compiled().apply(undefined, revive(args) as unknown[]));
        case 'where':
          return (document) => {
            const self = revive(document);
            define('obj', self);
            return Boolean(compiled().call(self, self));
          };
        case 'map':
          return (document) => {
            emitted = [];
            compiled().call(revive(document));
            return print(emitted);
          };
        default:
          return (key, values) => print(compiled().call(undefined, revive(key), revive(values)));
      }
    },
  };
}
