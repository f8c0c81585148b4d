/** Inside the sandbox: the globals of a script, `getContext` and `__`, with collection, request and response. */
import type { GuestCalls, GuestLimits, makeCalls } from './guest-calls.ts';
import type { addChains } from './guest-chain.ts';
import type { makeChainSteps } from './guest-chain-steps.ts';
import type { CollectionLinks, makeCollection } from './guest-collection.ts';
import type { GuestConsole, makeConsole } from './guest-console.ts';
import type { makeDocuments } from './guest-documents.ts';
import type { GuestMessage, makeMessage } from './guest-messages.ts';
import type { makeRandom } from './guest-random.ts';

/** The input of a script beside its arguments, as JSON. */
export interface GuestInput {
  readonly links: CollectionLinks;
  readonly operation: string;
  readonly requestBody?: unknown;
  readonly responseBody?: unknown;
  readonly limits: GuestLimits;
  /** Four whole numbers below 2^32, not all zero: realms are used again, random numbers must not be. */
  readonly seed: readonly number[];
}

export interface ContextParts {
  readonly makeCalls: typeof makeCalls;
  readonly makeDocuments: typeof makeDocuments;
  readonly makeCollection: typeof makeCollection;
  readonly makeChainSteps: typeof makeChainSteps;
  readonly addChains: typeof addChains;
  readonly makeMessage: typeof makeMessage;
  readonly makeConsole: typeof makeConsole;
  readonly makeRandom: typeof makeRandom;
}

interface GuestContext {
  readonly limits: GuestLimits;
  readonly calls: GuestCalls;
  readonly console: GuestConsole;
  readonly request: GuestMessage;
  readonly response: GuestMessage;
  /** Fills in what depends on the script. */
  begin(input: GuestInput): void;
}

/** Everything that does not depend on the script is made before the script is there. */
export function makeContext(parts: ContextParts, abort: (error: unknown) => never): GuestContext {
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
  const console = parts.makeConsole(limits);
  const request = parts.makeMessage({}, undefined, { getOperationType });
  const response = parts.makeMessage({}, undefined, {
    getOperationType,
    getMaxResourceQuota: () => '',
    getResourceQuotaCurrentUsage: () => '',
  });
  const collection = parts.makeCollection(calls, links);
  Object.assign(collection, { request: request.view, response: response.view });
  parts.addChains(collection, parts.makeChainSteps());
  const context = {
    getCollection: () => collection,
    getRequest: () => request.view,
    getResponse: () => response.view,
    abort,
  };
  const define = (name: string, value: unknown): void => {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  };
  define('getContext', () => context);
  define('__', collection);
  return {
    limits,
    calls,
    console,
    request,
    response,
    begin(input) {
      Object.assign(limits, input.limits);
      Object.assign(links, input.links);
      operation = input.operation;
      request.body = input.requestBody;
      response.body = input.responseBody;
      Math.random = parts.makeRandom(input.seed);
    },
  };
}
