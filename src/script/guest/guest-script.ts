/** Inside the sandbox: runs one procedure or trigger, turn by turn. */
import type { GuestAnswer, GuestLimits, makeCalls } from './guest-calls.ts';
import type { addChains } from './guest-chain.ts';
import type { CollectionLinks, makeCollection } from './guest-collection.ts';
import type { makeConsole } from './guest-console.ts';
import type { makeDocuments } from './guest-documents.ts';
import type { GuestMessage, makeMessage } from './guest-messages.ts';

interface GuestParts {
  readonly makeCalls: typeof makeCalls;
  readonly makeDocuments: typeof makeDocuments;
  readonly makeCollection: typeof makeCollection;
  readonly addChains: typeof addChains;
  readonly makeMessage: typeof makeMessage;
  readonly makeConsole: typeof makeConsole;
}

/** What a script is started with beside its arguments, as JSON. */
export interface GuestInput {
  readonly links: CollectionLinks;
  readonly operation: string;
  readonly requestBody?: unknown;
  readonly responseBody?: unknown;
  readonly limits: GuestLimits;
  /** Four whole numbers below 2^32, not all zero: realms are used again, chance is not. */
  readonly seed: readonly number[];
}

interface GuestScript {
  /** @param args - JSON list. */
  start(main: (...args: unknown[]) => unknown, input: string, args: string): void;
  /** Runs the callbacks of the calls last taken; see `answer` of GuestCalls. */
  resume(answers: string, texts: string): void;
  /** What the script has come to: the JSON text of its next calls or of its failure, or empty when it is done. */
  round(): string;
  /** JSON texts of the documents of those calls. */
  documents(): string;
  /** Of a script that is done, as JSON text. */
  responseBody(): string;
  requestBody(): string;
  log(): string;
}

export function makeScript(parts: GuestParts): GuestScript {
  const { parse, stringify } = JSON;
  const GuestError = Error;
  // All that does not depend on the script is made before it comes; it fills in what does.
  const limits: { -readonly [name in keyof GuestLimits]: number } = {
    acceptUntilMs: 0,
    callsMax: 0,
    callsPerRound: 0,
    charactersPerRound: 0,
    documentCharactersMax: 0,
    resultCharactersMax: 0,
    logCharactersMax: 0,
  };
  const links = { selfLink: '', altLink: '' };
  let operation = '';
  const getOperationType = () => operation;
  const calls = parts.makeCalls(limits, parts.makeDocuments());
  const log = parts.makeConsole(limits);
  const request = parts.makeMessage({}, undefined, { getOperationType });
  const response = parts.makeMessage({}, undefined, {
    getOperationType,
    getMaxResourceQuota: () => '',
    getResourceQuotaCurrentUsage: () => '',
  });
  const collection = parts.makeCollection(calls, links);
  Object.assign(collection, { request: request.view, response: response.view });
  parts.addChains(collection);
  let isSettled = true;
  let failure: { readonly error: unknown } | undefined;
  let results = { response: '', request: '' };

  const define = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };
  /** xoshiro128+: as good as what the language promises. */
  const chance = (seed: readonly number[]): (() => number) => {
    const state = Uint32Array.from(seed);
    const next = (): number => {
      const [a, b, c, d] = state as unknown as [number, number, number, number];
      const result = (a + d) >>> 0;
      state[2] = c ^ a;
      state[3] = d ^ b;
      state[1] = b ^ (state[2] as number);
      state[0] = a ^ (state[3] as number);
      state[2] = (state[2] as number) ^ (b << 9);
      const turned = state[3] as number;
      state[3] = (turned << 11) | (turned >>> 21);
      return result;
    };
    return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 9_007_199_254_740_992;
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
  const context = {
    getCollection: () => collection,
    getRequest: () => request.view,
    getResponse: () => response.view,
    abort(error: unknown): never {
      failure ??= { error };
      throw error;
    },
  };
  define('getContext', () => context);
  define('__', collection);
  return {
    start(main, text, args) {
      const input = parse(text) as GuestInput;
      Object.assign(limits, input.limits);
      Object.assign(links, input.links);
      operation = input.operation;
      request.body = input.requestBody;
      response.body = input.responseBody;
      Math.random = chance(input.seed);
      attempt(() => {
        const result = main(...(parse(args) as unknown[]));
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
    resume(answers, texts) {
      attempt(() => calls.answer(parse(answers) as readonly GuestAnswer[], texts));
    },
    round() {
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
    documents: () => calls.documents(),
    responseBody: () => results.response,
    requestBody: () => results.request,
    log: () => log.text,
  };
}
