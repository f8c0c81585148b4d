/** Inside the sandbox: runs one procedure or trigger, round by round. */
import type { GuestAnswer } from './guest-calls.ts';
import type { ContextParts, GuestInput, makeContext } from './guest-context.ts';
import type { makeFailurePrinter } from './guest-failure.ts';
import type { GuestMessage } from './guest-messages.ts';

interface GuestParts extends ContextParts {
  readonly makeContext: typeof makeContext;
  readonly makeFailurePrinter: typeof makeFailurePrinter;
}

interface GuestScript {
  /** @param args - JSON list. */
  start(main: (...args: unknown[]) => unknown, input: string, args: string): void;
  /** Runs the callbacks of the calls last taken; see `answer` of GuestCalls. */
  resume(answers: string, texts: string): void;
  /** The end of a round: JSON text of the script's next calls or of its failure, or empty when it is done. */
  round(): string;
  /** JSON texts of the documents of those calls. */
  documents(): string;
  /** The body of the response of a script that is done, as JSON text. */
  responseBody(): string;
  requestBody(): string;
  log(): string;
}

export function makeScript(parts: GuestParts): GuestScript {
  const { parse, stringify } = JSON;
  const GuestError = Error;
  let isSettled = true;
  let failure: { readonly error: unknown } | undefined;
  let results = { response: '', request: '' };
  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  const context = parts.makeContext(parts, (error) => {
    fail(error);
    throw error;
  });
  const { calls, limits, console } = context;
  const printFailure = parts.makeFailurePrinter();

  const attempt = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      fail(error);
    }
  };
  const describe = (error: unknown): string => printFailure(error, console.text);
  const textOf = ({ body }: GuestMessage): string => stringify(body) ?? '""';
  return {
    start(main, input, args) {
      context.begin(parse(input) as GuestInput);
      attempt(() => {
        const result = main(...(parse(args) as unknown[]));
        if (!(result instanceof Promise)) return;
        isSettled = false;
        result.then(() => {
          isSettled = true;
        }, fail);
      });
    },
    resume(answers, texts) {
      attempt(() => calls.answer(parse(answers) as readonly GuestAnswer[], texts));
    },
    round() {
      if (failure) return describe(failure.error);
      if (!calls.isEmpty) return `{"kind":"calls","calls":${calls.take()}}`;
      if (!isSettled)
        return describe(new GuestError('The script waits for a promise that nothing will settle.'));
      try {
        results = { response: textOf(context.response), request: textOf(context.request) };
      } catch (error) {
        return describe(error);
      }
      const isTooLarge =
        results.response.length > limits.resultCharactersMax ||
        results.request.length > limits.documentCharactersMax;
      return isTooLarge ? '{"kind":"tooLarge"}' : '';
    },
    documents: () => calls.documents(),
    responseBody: () => results.response,
    requestBody: () => results.request,
    log: () => console.text,
  };
}
