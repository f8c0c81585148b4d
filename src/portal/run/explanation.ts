/** Explanations from what the service noted while a request ran: the same for every language. */
import type { TracedOperation } from '../../base/index.ts';
import type { Explanation } from './runner.ts';

const PART_NAMES: Readonly<Record<string, string>> = {
  partitions: 'start',
  index: 'index',
  items: 'load',
  output: 'output',
};

/** The cost of beginning in one partition: half of a small query. */
const START_UNITS = 2.2;

interface Traced {
  readonly operations: readonly TracedOperation[];
  readonly partitionCount: number;
  /** How this language names the partition key, for the hint. */
  readonly keyText: string;
  readonly charge: number;
}

export function explainTrace({ operations, partitionCount, keyText, charge }: Traced): Explanation {
  const read = new Set(operations.flatMap(({ partitions }) => partitions));
  const operators = operatorsOf(operations);
  const explained = operators.reduce((sum, { requestUnits }) => sum + requestUnits, 0);
  if (charge - explained > 0.01)
    operators.push({
      name: 'other',
      detail: 'point reads, writes',
      requestUnits: Math.round((charge - explained) * 100) / 100,
    });
  return {
    fanOut: { read: read.size, of: partitionCount },
    isOneKey: null,
    operators,
    accesses: operations.flatMap(({ partitions, accessPaths }) =>
      accessPaths.map((access, at) => ({ partition: partitions[at] ?? '', access })),
    ),
    facts: [
      ['operations', operations.map(({ kind }) => kind).join(', ') || 'point operations only'],
      ['rows', String(operations.reduce((sum, { rows }) => sum + rows, 0))],
    ],
    hints: fanOutHints(read.size, keyText),
  };
}

function operatorsOf(operations: readonly TracedOperation[]): Explanation['operators'][number][] {
  const sums = new Map<string, { units: number; count: number }>();
  const add = (name: string, units: number, count: number): void => {
    const sum = sums.get(name) ?? { units: 0, count: 0 };
    sums.set(name, { units: sum.units + units, count: sum.count + count });
  };
  for (const { kind, charge, parts, partitions, rows } of operations)
    if (parts === undefined) add(kind, charge, rows);
    else
      for (const [part, units] of Object.entries(parts))
        add(PART_NAMES[part] ?? part, units, part === 'partitions' ? partitions.length : rows);
  return [...sums].map(([name, { units, count }]) => ({
    name,
    detail: name === 'start' ? `${count} ×` : `${count} rows`,
    requestUnits: Math.round(units * 100) / 100,
  }));
}

export function fanOutHints(read: number, keyText: string): readonly string[] {
  if (read < 2) return [];
  const spared = Math.round((read - 1) * START_UNITS * 10) / 10;
  return [
    `It began in ${read} partitions. Fixed to one partition key (${keyText}) it would begin in one and spare ${spared} RU of start cost alone.`,
  ];
}
