/** Explanations from what the service noted while a request ran: the same for every language. */
import type { RequestTrace, TracedOperation, TracedStep } from '../../base/index.ts';
import type { Explanation } from './runner.ts';

type Operator = Explanation['operators'][number];

const PART_NAMES: Readonly<Record<string, string>> = {
  partitions: 'start',
  index: 'index',
  items: 'load',
  output: 'output',
};

/** The cost of beginning in one partition: half of a small query. */
const START_UNITS = 2.2;

interface Traced extends RequestTrace {
  readonly partitionCount: number;
  /** How this language names the partition key, for the hint. */
  readonly keyText: string;
  readonly charge: number;
  /** Rows that the client gets. */
  readonly returned: number;
  /** True where the language reads rows and drops those that do not match (ALLOW FILTERING). */
  readonly isFiltering: boolean;
}

export function explainTrace(traced: Traced): Explanation {
  const { operations, partitionCount, keyText, charge } = traced;
  const steps = traced.steps();
  const read = new Set(operations.flatMap(({ partitions }) => partitions));
  const work = workOf(operations);
  const operators = withRest(steps.length > 0 ? steps.map(operatorOfStep) : work, charge);
  const filtering = filteringOf(traced);
  const conditions = operations.flatMap(({ condition }) => condition ?? []);
  return {
    fanOut: { read: read.size, of: partitionCount },
    isOneKey:
      operations.length === 0 ? null : operations.every(({ isOneKey }) => isOneKey === true),
    operators,
    accesses: operations.flatMap(({ partitions, accessPaths }) =>
      accessPaths.map((access, at) => ({ partition: partitions[at] ?? '', access })),
    ),
    facts: [
      ['operations', countedKinds(operations)],
      ...(conditions.length === 0 ? [] : [['condition', conditions[0] ?? ''] as const]),
      ['rows read', String(rowsOf(operations))],
      ...(steps.length === 0 ? [] : work.map(factOf)),
    ],
    hints: [...filtering, ...fanOutHints(read.size, keyText), ...oneKeyHint(traced, read.size)],
  };
}

function factOf({ name, detail, requestUnits }: Operator): readonly [string, string] {
  return [name, `${requestUnits} RU, ${detail}`];
}

/** What no step or operation accounts for. */
function withRest(operators: readonly Operator[], charge: number): readonly Operator[] {
  const explained = operators.reduce((sum, { requestUnits }) => sum + requestUnits, 0);
  const rest = rounded(charge - explained);
  return rest <= 0.01
    ? operators
    : [...operators, { name: 'other', detail: 'results and commit', requestUnits: rest }];
}

function operatorOfStep({ name, charge, rows, partitionCalls, durationMs }: TracedStep): Operator {
  const calls =
    partitionCalls === undefined || partitionCalls === 0
      ? []
      : [partitionCalls === 1 ? 'local' : `fan-out: ${partitionCalls} partition calls`];
  const rowText = `${rows.toLocaleString('en-US')} rows`;
  const detail = [...calls, rowText, `${rounded(durationMs, 10)} ms`];
  return { name, detail: detail.join(', '), requestUnits: rounded(charge) };
}

function workOf(operations: readonly TracedOperation[]): readonly Operator[] {
  const sums = new Map<string, { units: number; count: number }>();
  const add = (name: string, units: number, count: number): void => {
    const sum = sums.get(name) ?? { units: 0, count: 0 };
    sums.set(name, { units: sum.units + units, count: sum.count + count });
  };
  for (const operation of operations) {
    const { charge, parts, partitions, rows } = operation;
    if (parts === undefined) add(nameOf(operation), charge, rows);
    else
      for (const [part, units] of Object.entries(parts))
        add(PART_NAMES[part] ?? part, units, part === 'partitions' ? partitions.length : rows);
  }
  return [...sums].map(([name, { units, count }]) => ({
    name,
    detail: name === 'start' ? `${count} ×` : `${count.toLocaleString('en-US')} rows`,
    requestUnits: rounded(units),
  }));
}

function nameOf({ kind, isOneKey }: TracedOperation): string {
  if (kind !== 'scan') return kind;
  return isOneKey === true ? 'scan of one key' : 'scan of a hash range';
}

function countedKinds(operations: readonly TracedOperation[]): string {
  const counts = new Map<string, number>();
  for (const operation of operations)
    counts.set(nameOf(operation), (counts.get(nameOf(operation)) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ') || 'none';
}

function rowsOf(operations: readonly TracedOperation[]): number {
  return operations.reduce((sum, { kind, rows }) => (kind === 'write' ? sum : sum + rows), 0);
}

/** What rows cost that were read and dropped. */
function filteringOf({ operations, returned, charge, isFiltering }: Traced): readonly string[] {
  const read = rowsOf(operations);
  if (!isFiltering || read <= returned) return [];
  const dropped = read - returned;
  const text = (count: number): string => count.toLocaleString('en-US');
  return [
    `ALLOW FILTERING: ${text(read)} rows were read and ${text(returned)} returned. Some ${rounded((charge * dropped) / read)} of ${rounded(charge)} RU were for rows that nobody gets: a table with the filtered column in its primary key reads only those returned.`,
  ];
}

/** Partitions share the work, so one of them would do its part. */
function oneKeyHint({ charge }: Traced, read: number): readonly string[] {
  return read < 2 ? [] : [`As a query of one key: some ${rounded(charge / read, 10)} RU.`];
}

export function fanOutHints(read: number, keyText: string): readonly string[] {
  if (read < 2) return [];
  const spared = Math.round((read - 1) * START_UNITS * 10) / 10;
  return [
    `It began in ${read} partitions. Fixed to one partition key (${keyText}) it would begin in one and spare ${spared} RU of start cost alone.`,
  ];
}

function rounded(value: number, steps = 100): number {
  return Math.round(value * steps) / steps;
}
