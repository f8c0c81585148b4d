/** The items of a container, page by page; a filter in the language of its API, edits that lose nothing. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { exportRows } from '../../lib/export.ts';
import { apiName, count, units } from '../../lib/format.ts';
import { type Running, run } from '../../lib/run.ts';
import type { ApiId, ContainerOverview, RunResult } from '../../lib/types.ts';
import { download } from '../../parts/copy.tsx';
import { showDialog } from '../../parts/dialogs.tsx';
import { columnsOf, Grid } from '../../parts/grid.tsx';
import { WriteButton } from '../../parts/shell.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { RunFailure } from '../query/run-failure.tsx';
import { DeleteMany } from './delete-many.tsx';
import { type Item, ItemEditor, newItemText } from './item-editor.tsx';

const PAGE = 100;

type Row = Pick<ContainerOverview, 'db' | 'container' | 'api' | 'partitionKey'>;

export function DataPage({ row }: { readonly row: Row }) {
  const { db, container, partitionKey } = row;
  const [language, setLanguage] = useState<ApiId>('nosql');
  const [filter, setFilter] = useState('');
  const items = useItems(row, language);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const isEditable = language === 'nosql';
  useEffect(() => {
    setChosen(new Set());
    items.start(filter);
  }, [db, container, language]);
  const edit = (item: Item | undefined): void =>
    showDialog(
      <ItemEditor
        db={db}
        container={container}
        partitionKey={partitionKey}
        item={item}
        text={item === undefined ? newItemText(partitionKey) : undefined}
        onChanged={() => items.start(filter)}
      />,
    );
  const picked = [...chosen].flatMap((at) =>
    items.rows[at] === undefined ? [] : [items.rows[at] as Item],
  );
  const toggle = (at: number): void => {
    const next = new Set(chosen);
    if (!next.delete(at)) next.add(at);
    setChosen(next);
  };
  return (
    <>
      <form
        class="row filter"
        onSubmit={(event) => {
          event.preventDefault();
          items.start(filter);
        }}
      >
        {row.api !== 'nosql' && (
          <select
            aria-label="Language of the filter"
            value={language}
            onChange={(event) => setLanguage(event.currentTarget.value as ApiId)}
          >
            <option value="nosql">as items (SQL, editable)</option>
            <option value={row.api}>as {apiName(row.api)} has them</option>
          </select>
        )}
        <label class="grow prefix">
          <code>{FILTERS[language].before}</code>
          <input
            type="text"
            data-search
            aria-label="Filter"
            placeholder={FILTERS[language].example}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Filter</button>
        <WriteButton class="primary" onClick={() => edit(undefined)}>
          New item
        </WriteButton>
        <WriteButton
          class="danger"
          disabled={picked.length === 0 && filter === ''}
          onClick={() =>
            showDialog(
              <DeleteMany
                db={db}
                container={container}
                partitionKey={partitionKey}
                items={picked}
                filter={filter}
                onDone={() => items.start(filter)}
              />,
            )
          }
        >
          {picked.length > 0 ? `Delete ${picked.length}…` : 'Delete filtered…'}
        </WriteButton>
        <button
          type="button"
          disabled={items.rows.length === 0}
          onClick={() =>
            download(
              `${container}.ndjson`,
              exportRows(picked.length > 0 ? picked : items.rows, columnsOf(items.rows), 'ndjson'),
              'application/x-ndjson',
            )
          }
        >
          Export
        </button>
      </form>
      {items.failure !== undefined && (
        <Failure error={items.failure} onRetry={() => items.start(filter)} />
      )}
      {items.last?.error !== undefined && <RunFailure error={items.last.error} />}
      {items.rows.length === 0 && items.isRunning && <Loading what="items" />}
      {items.rows.length === 0 &&
        !items.isRunning &&
        items.last !== undefined &&
        items.last.error === undefined && (
          <Empty title={filter === '' ? 'The container is empty' : 'Nothing matches'}>
            <p>
              {filter === ''
                ? 'Items written by any API appear here.'
                : 'No item passes the filter.'}
            </p>
            <WriteButton class="primary" onClick={() => edit(undefined)}>
              New item
            </WriteButton>
          </Empty>
        )}
      {items.rows.length > 0 && (
        <Grid
          rows={items.rows}
          label="Items"
          chosen={chosen}
          {...(isEditable && {
            onToggle: toggle,
            onOpen: (at: number) => edit(items.rows[at] as Item),
          })}
        />
      )}
      <p class="row muted" role="status">
        {items.rows.length > 0 &&
          `${count(items.rows.length)} items${items.last?.continuation ? ', more to come' : ''} · ${units(items.charge)} RU · ${units(items.last?.ms ?? 0)} ms · ${items.last?.partitions ?? 0} partitions`}
        {items.last?.continuation && (
          <button type="button" disabled={items.isRunning} onClick={items.more}>
            More
          </button>
        )}
      </p>
    </>
  );
}

interface FilterText {
  readonly before: string;
  readonly example: string;
  text(filter: string, container: string): string;
}

const FILTERS: Readonly<Record<ApiId, FilterText>> = {
  nosql: {
    before: 'WHERE',
    example: "c.total > 100 AND c.city = 'Oslo'",
    text: (filter) => `SELECT * FROM c${filter.trim() === '' ? '' : ` WHERE ${filter}`}`,
  },
  mongo: {
    before: 'find',
    example: '{ total: { $gt: 100 } }',
    text: (filter, container) =>
      `db[${JSON.stringify(container)}].find(${filter.trim() === '' ? '{}' : filter})`,
  },
  cassandra: {
    before: 'WHERE',
    example: "customer = 'amazon'",
    text: (filter, container) =>
      `SELECT * FROM "${container.replaceAll('"', '""')}"${filter.trim() === '' ? '' : ` WHERE ${filter}`}`,
  },
  gremlin: {
    before: 'g.V()',
    example: ".hasLabel('person')",
    text: (filter) => `g.V()${filter.trim()}`,
  },
  table: { before: '$filter', example: "PartitionKey eq 'a'", text: (filter) => filter },
};

interface Items {
  readonly rows: readonly unknown[];
  readonly last: RunResult | undefined;
  readonly failure: unknown;
  readonly isRunning: boolean;
  readonly charge: number;
  start(filter: string): void;
  more(): void;
}

/** Pages of items; a new filter cancels the one under way. */
function useItems({ db, container }: Row, language: ApiId): Items {
  const [state, setState] = useState<Omit<Items, 'start' | 'more'>>({
    rows: [],
    last: undefined,
    failure: undefined,
    isRunning: false,
    charge: 0,
  });
  const running = useRef<Running | undefined>(undefined);
  const text = useRef('');
  const load = async (
    before: readonly unknown[],
    charge: number,
    continuation?: string | null,
  ): Promise<void> => {
    running.current?.cancel();
    const own = run({
      api: language,
      db,
      container,
      text: text.current,
      limit: PAGE,
      ...(continuation ? { continuation } : {}),
    });
    running.current = own;
    setState((known) => ({ ...known, rows: before, isRunning: true, failure: undefined }));
    try {
      const last = await own.result;
      if (running.current !== own) return;
      setState({
        rows: [...before, ...(last.rows ?? [])],
        last,
        failure: undefined,
        isRunning: false,
        charge: charge + (last.charge ?? 0),
      });
    } catch (failure) {
      if (running.current === own) setState((known) => ({ ...known, failure, isRunning: false }));
    }
  };
  return {
    ...state,
    start(filter) {
      text.current = FILTERS[language].text(filter, container);
      void load([], 0);
    },
    more: () => void load(state.rows, state.charge, state.last?.continuation),
  };
}
