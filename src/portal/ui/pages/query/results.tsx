/** Rows as a table, as JSON, or as a graph; and as files. */
import { useState } from 'preact/hooks';
import { type ExportFormat, exportRows } from '../../lib/export.ts';
import { count } from '../../lib/format.ts';
import type { ApiId, RunResult } from '../../lib/types.ts';
import { download } from '../../parts/copy.tsx';
import { columnsOf, Grid } from '../../parts/grid.tsx';
import { Lazy } from '../../parts/lazy.tsx';
import type { GraphProps } from './graph-view.tsx';

type View = 'table' | 'json' | 'graph';

interface ResultsProps {
  readonly rows: readonly unknown[];
  readonly result: RunResult;
  readonly api: ApiId;
  readonly container: string;
  readonly onMore: () => void;
  readonly onExpand: (traversal: string) => void;
}

const JSON_ROWS_MAX = 500;
const JSON_LENGTH_MAX = 2_000_000;

export function Results({ rows, result, api, container, onMore, onExpand }: ResultsProps) {
  const [chosen, setView] = useState<View>();
  const isGraph = api === 'gremlin' && rows.some(isElement);
  const view = chosen ?? (isGraph ? 'graph' : 'table');
  const columns = result.columns ?? columnsOf(rows);
  const save = (format: ExportFormat): void =>
    download(`${container}.${format}`, exportRows(rows, columns, format), 'text/plain');
  return (
    <section class="results">
      <p class="row">
        <span class="choice" role="group" aria-label="View">
          {(['table', 'json', ...(isGraph ? ['graph' as const] : [])] as View[]).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={view === name}
              onClick={() => setView(name)}
            >
              {name === 'json' ? 'JSON' : `${name[0]?.toUpperCase()}${name.slice(1)}`}
            </button>
          ))}
        </span>
        <span class="grow" />
        {(['json', 'ndjson', 'csv'] as const).map((format) => (
          <button
            key={format}
            type="button"
            class="quiet"
            disabled={rows.length === 0}
            onClick={() => save(format)}
          >
            {format.toUpperCase()}
          </button>
        ))}
      </p>
      {rows.length === 0 && <p class="muted">No rows.</p>}
      {rows.length > 0 && view === 'table' && <Grid rows={rows} columns={columns} label="Rows" />}
      {rows.length > 0 && view === 'json' && <JsonView rows={rows} />}
      {view === 'graph' && (
        <Lazy<GraphProps>
          load={() => import('./graph-view.tsx').then((module) => module.GraphView)}
          rows={rows}
          partitions={result.vertexPartitions ?? {}}
          onExpand={onExpand}
        />
      )}
      {result.continuation && (
        <button type="button" onClick={onMore}>
          More rows
        </button>
      )}
    </section>
  );
}

function JsonView({ rows }: { readonly rows: readonly unknown[] }) {
  const shown = rows.slice(0, JSON_ROWS_MAX);
  const text = shown.map((row) => JSON.stringify(row, null, 2)).join(',\n');
  return (
    <>
      <pre class="json" tabIndex={0} role="region" aria-label="Rows as JSON">
        {text.slice(0, JSON_LENGTH_MAX)}
      </pre>
      {(rows.length > shown.length || text.length > JSON_LENGTH_MAX) && (
        <p class="muted">The beginning of {count(rows.length)} rows: the export has all.</p>
      )}
    </>
  );
}

function isElement(row: unknown): boolean {
  const type = (row as { readonly type?: unknown } | null)?.type;
  return type === 'vertex' || type === 'edge';
}
