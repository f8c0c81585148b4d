/** Inside the sandbox: runs one procedure or trigger, turn by turn. */
import type { GuestAnswer, GuestCalls, GuestLimits, makeCalls } from './guest-calls.ts';
import type { addChains } from './guest-chain.ts';
import type { CollectionLinks, makeCollection } from './guest-collection.ts';
import type { GuestConsole, makeConsole } from './guest-console.ts';
import type { GuestMessage, makeMessage } from './guest-messages.ts';

export interface GuestParts {
  readonly makeCalls: typeof makeCalls;
  readonly makeCollection: typeof makeCollection;
  readonly addChains: typeof addChains;
  readonly makeMessage: typeof makeMessage;
  readonly makeConsole: typeof makeConsole;
}

/** What a script is started with, as JSON. */
export interface GuestInput {
  readonly arguments: readonly unknown[];
  readonly links: CollectionLinks;
  readonly operation: string;
  readonly requestBody?: unknown;
  readonly responseBody?: unknown;
  readonly limits: GuestLimits;
}

export interface GuestScript {
  start(main: (...args: unknown[]) => unknown, input: string): void;
  /** Runs the callbacks of the calls last taken. */
  resume(answers: string): void;
  /** What the script has come to: the JSON text of its next calls or of its failure, or empty when it is done. */
  turn(): string;
  /** Of a script that is done, as JSON text. */
  responseBody(): string;
  requestBody(): string;
  log(): string;
}

export function makeScript(parts: GuestParts): GuestScript {
  const { parse, stringify } = JSON;
  const GuestError = Error;
  let limits: GuestLimits;
  let calls: GuestCalls;
  let log: GuestConsole;
  let request: GuestMessage;
  let response: GuestMessage;
  let isSettled = true;
  let failure: { readonly error: unknown } | undefined;
  let results = { response: '', request: '' };

  const define = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failure ??= { error };
    }
  };
  const describe = (error: unknown): string => {
    const isObject = typeof error === 'object' && error !== null;
    const { name, message, stack, number } = (isObject ? error : {}) as Record<string, unknown>;
    return stringify({
      kind: 'failed',
      name: error instanceof GuestError ? String(name) : '',
      message:
        error instanceof GuestError ? String(message) : isObject ? stringify(error) : String(error),
      stack: typeof stack === 'string' ? stack : '',
      number: typeof number === 'number' ? number : 0,
      log: log.text,
    });
  };
  return {
    start(main, text) {
      const input = parse(text) as GuestInput;
      limits = input.limits;
      calls = parts.makeCalls(limits);
      log = parts.makeConsole(limits.logCharactersMax);
      const getOperationType = () => input.operation;
      request = parts.makeMessage({}, input.requestBody, { getOperationType });
      response = parts.makeMessage({}, input.responseBody, {
        getOperationType,
        getMaxResourceQuota: () => '',
        getResourceQuotaCurrentUsage: () => '',
      });
      const collection = parts.makeCollection(calls, input.links);
      Object.assign(collection, { request: request.face, response: response.face });
      parts.addChains(collection);
      const abort = (error: unknown): never => {
        failure ??= { error };
        throw error;
      };
      const context = {
        getCollection: () => collection,
        getRequest: () => request.face,
        getResponse: () => response.face,
        abort,
      };
      define('getContext', () => context);
      define('__', collection);
      attempt(() => {
        const result = main(...input.arguments);
        if (!(result instanceof Promise)) return;
        isSettled = false;
        result.then(
          () => {
            isSettled = true;
          },
          (error) => {
            failure ??= { error };
          },
        );
      });
    },
    resume(answers) {
      attempt(() => calls.answer(parse(answers) as readonly GuestAnswer[]));
    },
    turn() {
      if (failure) return describe(failure.error);
      if (!calls.isEmpty) return `{"kind":"calls","calls":${calls.take()}}`;
      if (!isSettled)
        return describe(new GuestError('The script waits for a promise that nothing will settle.'));
      const textOf = ({ body }: GuestMessage) => stringify(body) ?? '""';
      try {
        results = { response: textOf(response), request: textOf(request) };
      } catch (error) {
        return describe(error);
      }
      const isTooLarge =
        results.response.length > limits.resultCharactersMax ||
        results.request.length > limits.documentCharactersMax;
      return isTooLarge ? '{"kind":"tooLarge"}' : '';
    },
    responseBody: () => results.response,
    requestBody: () => results.request,
    log: () => log.text,
  };
}
