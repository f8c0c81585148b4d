/** Inside the sandbox: `console.log`, kept as text. */
import type { GuestLimits } from './guest-calls.ts';

interface GuestConsole {
  readonly text: string;
}

/** Installs `console` as a global. */
export function makeConsole(limits: Pick<GuestLimits, 'logCharactersMax'>): GuestConsole {
  const { stringify } = JSON;
  let text = '';
  const printed = (value: unknown): string => {
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return String(value);
    try {
      return stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  const log = (...values: unknown[]): void => {
    const [first, ...rest] = values;
    const line =
      typeof first === 'string'
        ? first.replace(/%[sdifjoO%]/g, (mark) => {
            if (mark === '%%') return '%';
            return rest.length === 0 ? mark : printed(rest.shift());
          })
        : printed(first);
    const whole = [line, ...rest.map(printed)].join(' ');
    text = (text === '' ? whole : `${text}\n${whole}`).slice(0, limits.logCharactersMax);
  };
  const face = { log, info: log, warn: log, error: log, debug: log };
  Object.defineProperty(globalThis, 'console', { value: face, writable: true, configurable: true });
  return {
    get text() {
      return text;
    },
  };
}
