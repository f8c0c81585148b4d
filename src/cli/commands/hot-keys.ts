/** The tables of keys that cost most and hold most, below the partitions. */
import { property } from '../client.ts';
import { printBar, printBytes, printTable } from '../table.ts';

const BAR_WIDTH = 20;

/** The whole lists are in `--json`. */
const ROWS_MAX = 5;

export function printKeys(report: unknown): string {
  const list = (name: string): readonly unknown[] => {
    const value = property(report, name);
    return Array.isArray(value) ? value.slice(0, ROWS_MAX) : [];
  };
  return (
    section(list('byRequestUnits'), ['hot key', 'partition', 'RU', '% of its partition', '']) +
    section(list('largest'), ['large key', 'partition', 'bytes', '% of its limit', ''])
  );
}

function section(keys: readonly unknown[], heading: readonly string[]): string {
  if (keys.length === 0) return '';
  const isLarge = heading[2] === 'bytes';
  const rows = keys.map((key) => {
    const percent = Number(property(key, 'percent'));
    return [
      nameOf(key),
      String(property(key, 'partition')),
      isLarge
        ? printBytes(Number(property(key, 'bytes')))
        : Math.round(Number(property(key, 'requestUnits'))),
      Math.round(percent),
      printBar(Math.min(1, percent / 100), BAR_WIDTH),
    ];
  });
  return `\n${printTable([heading, ...rows])}`;
}

/** Values as JSON; the hash where only that is known. */
function nameOf(key: unknown): string {
  const values = property(key, 'key');
  if (!Array.isArray(values)) return `hash ${String(property(key, 'hash')).slice(0, 8)}…`;
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
