/** Inside the sandbox: `console.log`, collected as text. */
import type { GuestLimits } from './guest-calls.ts';

export interface GuestConsole {
  readonly text: string;
}

/** Installs `console` as a global. */
export function makeConsole(limits: Pick<GuestLimits, 'logCharactersMax'>): GuestConsole {
  const { stringify } = JSON;
  let text = '';
  const print = (value: unknown): string => {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return String(value);
    try {
      return stringify(value) ?? String(value);
    } catch {
      // A value without JSON, such as a cycle, is logged as the language prints it.
      return String(value);
    }
  };
  const log = (...values: unknown[]): void => {
    const [first, ...rest] = values;
    const line =
      typeof first === 'string'
        ? first.replace(/%[sdifjoO%]/g, (placeholder) => {
            if (placeholder === '%%') return '%';
            return rest.length === 0 ? placeholder : print(rest.shift());
          })
        : print(first);
    const whole = [line, ...rest.map(print)].join(' ');
    text = (text === '' ? whole : `${text}\n${whole}`).slice(0, limits.logCharactersMax);
  };
  const view = { log, info: log, warn: log, error: log, debug: log };
  Object.defineProperty(globalThis, 'console', { value: view, writable: true, configurable: true });
  return {
    get text() {
      return text;
    },
  };
}
