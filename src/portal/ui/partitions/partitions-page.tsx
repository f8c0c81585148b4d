/** The partitions of a container: where its bytes and its load are, live. */
import { useEffect, useState } from 'preact/hooks';
import { Distribute } from '../forms/distribute.tsx';
import { ask, post } from '../lib/api.ts';
import { count, keyText, percent, units } from '../lib/format.ts';
import { watch } from '../lib/live.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import type { HotKeys, LivePartitions, Partition, PartitionsReport } from '../lib/types.ts';
import { showDialog } from '../parts/dialogs.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Await, Failure, LiveText } from '../parts/states.tsx';
import { KeyCards } from './key-cards.tsx';
import { LineagePicture } from './lineage.tsx';
import { PartitionTable } from './partition-table.tsx';
import { SeriesSection } from './series-section.tsx';
import { Strips } from './strips.tsx';

interface Props {
  readonly db: string;
  readonly container: string;
}

/** Hot keys change over minutes. */
const HOT_KEYS_MS = 5000;

export function PartitionsPage({ db, container }: Props) {
  const names = { db, container };
  const report = useLoaded(() => ask<PartitionsReport>('partitions', names), [db, container]);
  const hotKeys = useLoaded(() => ask<HotKeys>('hot-keys', names), [db, container]);
  const [live, setLive] = useState<LivePartitions>();
  useEffect(() => {
    const topic = `partitions:${encodeURIComponent(db)}/${encodeURIComponent(container)}`;
    return watch<LivePartitions>(topic, setLive);
  }, [db, container]);
  useEffect(report.reload, [live?.version]);
  useInterval(hotKeys.refresh, HOT_KEYS_MS);
  return (
    <Await loaded={report} what="partitions">
      {(known) => (
        <Partitions report={known} live={live} hotKeys={hotKeys.value} reload={report.reload} />
      )}
    </Await>
  );
}

interface PartitionsProps {
  readonly report: PartitionsReport;
  readonly live: LivePartitions | undefined;
  readonly hotKeys: HotKeys | undefined;
  reload(): void;
}

function Partitions({ report, live, hotKeys, reload }: PartitionsProps) {
  const [chosen, setChosen] = useState<string>();
  const [isTable, setTable] = useState(false);
  const partitions = merged(report, live);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping =
        (event.target as Element).closest?.('input, textarea, select, [contenteditable]') != null;
      if (event.key.toLowerCase() === 't' && !isTyping && !event.ctrlKey && !event.metaKey)
        setTable((before) => !before);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <Warning partitions={partitions} hotKeys={hotKeys} />
      {!isTable && (
        <Strips
          partitions={partitions}
          storageLimit={report.storageLimit}
          chosen={chosen}
          onChoose={setChosen}
        />
      )}
      <Actions
        report={report}
        chosen={chosen}
        isTable={isTable}
        onTable={setTable}
        reload={reload}
      />
      <PartitionTable
        partitions={partitions}
        report={report}
        chosen={chosen}
        onChoose={setChosen}
      />
      <KeyCards hotKeys={hotKeys} splits={report.splits} keyLimit={report.keyLimit} />
      <SeriesSection
        db={report.db}
        container={report.container}
        version={live?.version}
        isTable={isTable}
      />
      <LineagePicture
        db={report.db}
        container={report.container}
        version={live?.version}
        isTable={isTable}
      />
    </>
  );
}

/** The newest figures over the report, which knows more and is older. */
function merged(
  { partitions }: PartitionsReport,
  live: LivePartitions | undefined,
): readonly Partition[] {
  if (live === undefined) return partitions;
  const known = new Map(partitions.map((partition) => [partition.id, partition]));
  return live.partitions.map((state) => {
    const before = known.get(state.id);
    return {
      keys: 0,
      keysExact: false,
      min: '',
      max: '',
      state: 'online',
      largestKey: null,
      bornAt: '',
      ...before,
      ...state,
      items: state.items ?? before?.items ?? 0,
      bytes: state.bytes ?? before?.bytes ?? 0,
    };
  });
}

/** One sentence about what is wrong, where something is. */
function Warning({
  partitions,
  hotKeys,
}: {
  readonly partitions: readonly Partition[];
  readonly hotKeys: HotKeys | undefined;
}) {
  const refusing = partitions.filter(({ throttledLastMinute }) => throttledLastMinute > 0);
  const all = partitions.reduce(
    (sum, { requestUnitsLastMinute }) => sum + requestUnitsLastMinute,
    0,
  );
  const [hottest] = hotKeys?.byRequestUnits ?? [];
  const heat =
    hotKeys?.byRequestUnits.reduce((sum, { requestUnits }) => sum + requestUnits, 0) ?? 0;
  const share = hottest === undefined || heat === 0 ? 0 : (100 * hottest.requestUnits) / heat;
  if (refusing.length === 0 || all === 0) return <HotKeyHint hottest={hottest} />;
  return (
    <p class="alert">
      {hottest !== undefined && share > 30 ? (
        <>
          <strong>Partition {hottest.partition}</strong>: one key,{' '}
          <code>{keyText(hottest.key, hottest.hash)}</code>, takes {percent(Math.round(share))} of
          the request units of the hot keys. One key is always in one partition: more RU/s do not
          help it, another key does.
        </>
      ) : (
        <>
          {refusing.length} of {partitions.length} partitions refuse requests:{' '}
          {count(refusing.reduce((sum, { throttledLastMinute }) => sum + throttledLastMinute, 0))}{' '}
          in the last minute.
        </>
      )}
      <LiveText text={`${refusing.length} of ${partitions.length} partitions refuse requests`} />
    </p>
  );
}

/** A key from which its partition suffers, before requests are refused: worth a word, no alarm. */
const HOT_PERCENT = 40;

function HotKeyHint({
  hottest,
}: {
  readonly hottest: HotKeys['byRequestUnits'][number] | undefined;
}) {
  if (hottest === undefined || hottest.percent < HOT_PERCENT) return null;
  return (
    <p class="hint">
      Hottest key: <code>{keyText(hottest.key, hottest.hash)}</code> takes{' '}
      {percent(Math.round(hottest.percent))} of the request units of partition {hottest.partition}{' '}
      (last five minutes). One key is always in one partition: more RU/s would not help it, another
      key would.
    </p>
  );
}

interface ActionsProps {
  readonly report: PartitionsReport;
  readonly chosen: string | undefined;
  readonly isTable: boolean;
  readonly onTable: (isTable: boolean) => void;
  reload(): void;
}

function Actions({ report, chosen, isTable, onTable, reload }: ActionsProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const { db, container, partitions } = report;
  const at = partitions.findIndex(({ id }) => id === chosen);
  const next = partitions[at + 1];
  const change = async (route: string, body: object): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await post(route, { db, container, ...body });
      reload();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  const state = partitions[at];
  return (
    <>
      <p class="row">
        <button type="button" aria-pressed={isTable} onClick={() => onTable(!isTable)}>
          Pictures as tables <kbd>T</kbd>
        </button>
        {state !== undefined && (
          <>
            <span>
              Partition {state.id}: {count(state.items)} items,{' '}
              {units(state.requestUnitsLastMinute / 60)} RU/s on average
            </span>
            <WriteButton
              disabled={isBusy}
              onClick={() => void change('split', { partition: state.id, by: 'bytes' })}
            >
              Split by bytes
            </WriteButton>
            <WriteButton
              disabled={isBusy}
              onClick={() => void change('split', { partition: state.id, by: 'heat' })}
            >
              Split by heat
            </WriteButton>
            {next !== undefined && (
              <WriteButton
                disabled={isBusy}
                onClick={() => void change('merge', { partitions: [state.id, next.id] })}
              >
                Merge with {next.id}
              </WriteButton>
            )}
          </>
        )}
        {state === undefined && <span class="muted">Choose a partition to split or merge it.</span>}
        <span class="grow" />
        {report.throughput !== null && partitions.length > 1 && (
          <WriteButton
            onClick={() => showDialog(<Distribute db={db} container={container} onDone={reload} />)}
          >
            Divide RU/s…
          </WriteButton>
        )}
      </p>
      {error !== undefined && <Failure error={error} />}
    </>
  );
}
