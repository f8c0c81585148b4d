/** Shared functions of the parts of the contract suite. */
import { type Bytes, bytesToText, textToBytes } from '../base/index.ts';
import type { Engine, Entry, ReadView, Store } from './engine.ts';

export interface EngineUnderTest {
  readonly engine: Engine;
  /** Opens a second engine on the data of the first one, which is closed; absent where nothing is durable. */
  readonly reopen?: () => Promise<Engine>;
  readonly dispose: () => Promise<void>;
}

export function bytes(...values: readonly number[]): Bytes {
  return Uint8Array.from(values);
}

export function entry(key: string, value: string): Entry {
  return { key: textToBytes(key), value: textToBytes(value) };
}

export async function read(view: ReadView, key: string): Promise<string | undefined> {
  const value = await view.get(textToBytes(key));
  return value === undefined ? undefined : bytesToText(value);
}

export function put(store: Store, ...pairs: readonly (readonly [string, string])[]): Promise<void> {
  return store.commit({ puts: pairs.map(([key, value]) => entry(key, value)) });
}

/** Turns a refusal into a rejection, whether it is thrown at once or comes as a promise. */
export async function refusal(use: () => unknown): Promise<unknown> {
  return use();
}
