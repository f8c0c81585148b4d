/** One container: what it is, in one line, and its tabs. */
import { DeleteResource } from '../forms/delete-resource.tsx';
import { ScaleDialog } from '../forms/scale.tsx';
import { overview } from '../lib/account.ts';
import { apiName, bytes, count, short, units } from '../lib/format.ts';
import { CONTAINER_TABS, type ContainerTab, containerPath } from '../lib/router.ts';
import { PartitionsPage } from '../partitions/partitions-page.tsx';
import { showDialog } from '../parts/dialogs.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { DataPage } from './data/data-page.tsx';
import { FeedPage } from './feed.tsx';
import { QueryPage } from './query/query-page.tsx';
import { ScriptsPage } from './scripts.tsx';
import { SettingsPage } from './settings.tsx';

interface ContainerProps {
  readonly db: string;
  readonly container: string;
  readonly tab: ContainerTab;
}

export function ContainerPage({ db, container, tab }: ContainerProps) {
  const state = overview.value;
  if (state === undefined) return <Loading what="the container" />;
  const row = state.containers.find((known) => known.db === db && known.container === container);
  if (row === undefined)
    return (
      <Empty isPage title="There is no such container">
        <p>
          It may have been deleted. <a href="/">To the overview</a>
        </p>
      </Empty>
    );
  const each = row.throughput === null ? undefined : row.throughput / row.partitions;
  return (
    <>
      <header class="title">
        <div>
          <h1>{short(container, 80)}</h1>
          <p class="muted">
            {apiName(row.api)} ·{' '}
            {row.throughput === null ? 'shared throughput' : `${count(row.throughput)} RU/s`}
            {row.isAutoscale ? ' at most' : ''} · {count(row.partitions)} partition
            {row.partitions === 1 ? '' : 's'}
            {each === undefined ? '' : ` · ${units(each)} each`} · key{' '}
            <code>{short(row.partitionKey.join(', ') || 'none', 60)}</code> · {bytes(row.bytes)}
          </p>
        </div>
        <span class="grow" />
        {row.throughput !== null && (
          <WriteButton onClick={() => showDialog(<ScaleDialog db={db} container={container} />)}>
            Scale…
          </WriteButton>
        )}
        <WriteButton
          class="danger"
          onClick={() => showDialog(<DeleteResource db={db} container={container} />)}
        >
          Delete…
        </WriteButton>
      </header>
      <nav class="tabs" aria-label="Container">
        {CONTAINER_TABS.map((name) => (
          <a
            key={name}
            href={containerPath(db, container, name)}
            aria-current={name === tab ? 'page' : undefined}
          >
            {name[0]?.toUpperCase()}
            {name.slice(1)}
          </a>
        ))}
      </nav>
      <Tab row={row} tab={tab} />
    </>
  );
}

function Tab({
  row,
  tab,
}: {
  readonly row: Parameters<typeof DataPage>[0]['row'];
  readonly tab: ContainerTab;
}) {
  switch (tab) {
    case 'partitions':
      return <PartitionsPage db={row.db} container={row.container} />;
    case 'data':
      return <DataPage row={row} />;
    case 'query':
      return <QueryPage row={row} />;
    case 'feed':
      return <FeedPage db={row.db} container={row.container} />;
    case 'scripts':
      return <ScriptsPage db={row.db} container={row.container} partitionKey={row.partitionKey} />;
    case 'settings':
      return <SettingsPage db={row.db} container={row.container} />;
    default:
      return tab satisfies never;
  }
}
