/** The partitions as a table, sortable. */
import { useState } from 'preact/hooks';
import { bytes, count, percent, units } from '../lib/format.ts';
import type { Partition, PartitionsReport } from '../lib/types.ts';
import { Bar } from '../parts/sparkline.tsx';

interface Column {
  readonly name: string;
  readonly hint: string;
  readonly value: (partition: Partition) => number;
}

const COLUMNS: readonly Column[] = [
  { name: 'Id', hint: 'ids are never used again', value: ({ id }) => Number(id) },
  { name: 'Range', hint: 'share of the hash space', value: ({ from }) => from },
  { name: 'Items', hint: '', value: ({ items }) => items },
  { name: 'Keys', hint: 'distinct values of the partition key', value: ({ keys }) => keys },
  { name: 'Bytes', hint: 'of items', value: (partition) => partition.bytes },
  {
    name: 'RU/s',
    hint: 'average of the last minute',
    value: ({ requestUnitsLastMinute }) => requestUnitsLastMinute,
  },
  {
    name: 'Busiest second',
    hint: 'of the last minute, in percent of its RU/s',
    value: ({ normalizedPercent }) => normalizedPercent,
  },
  {
    name: 'Refused',
    hint: 'requests with 429, last minute',
    value: ({ throttledLastMinute }) => throttledLastMinute,
  },
];

interface TableProps {
  readonly partitions: readonly Partition[];
  readonly report: PartitionsReport;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
}

export function PartitionTable({ partitions, report, chosen, onChoose }: TableProps) {
  const [sort, setSort] = useState<{ readonly at: number; readonly isDown: boolean }>({
    at: 1,
    isDown: false,
  });
  const value = COLUMNS[sort.at]?.value ?? (() => 0);
  const sorted = [...partitions].sort((a, b) =>
    sort.isDown ? value(b) - value(a) : value(a) - value(b),
  );
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Partitions as a table">
      <table class="list" data-table="partitions">
        <thead>
          <tr>
            {COLUMNS.map(({ name, hint }, at) => (
              <th
                key={name}
                scope="col"
                class={at > 1 ? 'number' : ''}
                aria-sort={sort.at === at ? (sort.isDown ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  class="quiet"
                  title={hint}
                  onClick={() => setSort({ at, isDown: sort.at === at ? !sort.isDown : at > 1 })}
                >
                  {name}
                  {sort.at === at ? (sort.isDown ? ' ↓' : ' ↑') : ''}
                </button>
              </th>
            ))}
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((partition) => (
            <Row
              key={partition.id}
              partition={partition}
              limit={report.storageLimit}
              isChosen={partition.id === chosen}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  partition,
  limit,
  isChosen,
  onChoose,
}: {
  readonly partition: Partition;
  readonly limit: number;
  readonly isChosen: boolean;
  readonly onChoose: (id: string) => void;
}) {
  const {
    id,
    from,
    to,
    items,
    keys,
    keysExact,
    normalizedPercent,
    provisioned,
    throttledLastMinute,
    state,
  } = partition;
  const served = partition.servedLastMinute ?? 0;
  const refused =
    throttledLastMinute + served === 0
      ? 0
      : (100 * throttledLastMinute) / (throttledLastMinute + served);
  return (
    <tr class={isChosen ? 'chosen' : ''}>
      <th scope="row">
        <button type="button" class="quiet" onClick={() => onChoose(id)}>
          {id}
        </button>
      </th>
      <td>
        <code>
          {from.toFixed(4)}–{to.toFixed(4)}
        </code>
      </td>
      <td class="number">{count(items)}</td>
      <td class="number">
        {keysExact || keys === 0 ? '' : '~'}
        {count(keys)}
      </td>
      <td class="number">
        <Bar
          share={partition.bytes / limit}
          label={`${percent((100 * partition.bytes) / limit)} of its limit`}
        />{' '}
        {bytes(partition.bytes)}
      </td>
      <td class="number">
        {units(partition.requestUnitsLastMinute / 60)}{' '}
        <span class="muted">of {units(provisioned)}</span>
      </td>
      <td class="number">
        <Bar share={normalizedPercent / 100} isHot={throttledLastMinute > 0} />{' '}
        {percent(normalizedPercent)}
      </td>
      <td class={throttledLastMinute > 0 ? 'number refused' : 'number'}>
        {count(throttledLastMinute)}
        {throttledLastMinute > 0 && ` (${percent(Math.round(refused * 10) / 10)})`}
      </td>
      <td>{state}</td>
    </tr>
  );
}
