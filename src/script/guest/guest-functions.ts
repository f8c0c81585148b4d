/** Inside the sandbox: user-defined functions over many rows at once. */

interface GuestFunctions {
  add(name: string, run: (...args: unknown[]) => unknown): void;
  /**
   * @param calls - JSON list of [name, bits of the arguments that are undefined, ...arguments]
   * @returns JSON list of [0, value], [1] for undefined, or [2, message] for an error
   */
  run(calls: string): string;
}

export function makeFunctions(): GuestFunctions {
  const { parse, stringify } = JSON;
  const GuestError = Error;
  const functions = new Map<string, (...args: unknown[]) => unknown>();
  const runCall = (call: unknown[]): string => {
    const run = functions.get(call[0] as string);
    const missing = call[1] as number;
    const args = call.slice(2);
    if (missing !== 0)
      for (let at = 0; at < args.length; at++) if (missing & (1 << at)) args[at] = undefined;
    try {
      if (!run) throw new GuestError('no such function');
      const text = stringify(run(...args));
      return text === undefined ? '[1]' : `[0,${text}]`;
    } catch (error) {
      // A lack of memory ends all calls, not only this one.
      if (error instanceof GuestError && error.message === 'out of memory') throw error;
      return `[2,${stringify(String(error))}]`;
    }
  };
  return {
    add(name, run) {
      functions.set(name, run);
    },
    run: (calls) => `[${(parse(calls) as unknown[][]).map(runCall).join(',')}]`,
  };
}
