/** The queries that cost most, as shapes: texts without their values. */
import { ask } from '../lib/api.ts';
import { apiName, count, short, units } from '../lib/format.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import { containerPath } from '../lib/router.ts';
import type { QueryShape } from '../lib/types.ts';

const RELOAD_MS = 5000;
const SHOWN_MAX = 20;

export function QueryShapes() {
  const shapes = useLoaded(
    () => ask<{ readonly shapes: readonly QueryShape[] }>('query-shapes'),
    [],
  );
  useInterval(shapes.refresh, RELOAD_MS);
  const known = shapes.value?.shapes ?? [];
  return (
    <section class="card" data-card="query-shapes">
      <h2>
        Most expensive queries <small>by request units since the start · values are left out</small>
      </h2>
      {known.length === 0 ? (
        <p class="muted">No queries yet. Queries of all APIs are counted here, by their shape.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Most expensive queries">
          <table class="plain wide">
            <thead>
              <tr>
                <th scope="col">Shape</th>
                <th scope="col">Container</th>
                <th scope="col" class="number">
                  RU
                </th>
                <th scope="col" class="number">
                  Queries
                </th>
                <th scope="col" class="number">
                  RU each
                </th>
                <th scope="col" class="number">
                  ms a page
                </th>
                <th scope="col" class="number">
                  Partitions a page
                </th>
                <th scope="col" class="number">
                  Rows a page
                </th>
              </tr>
            </thead>
            <tbody>
              {known.slice(0, SHOWN_MAX).map((shape) => (
                <Row key={`${shape.db}/${shape.container}/${shape.text}`} {...shape} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ db, container, api, text, count: queries, pages, ru, ms, ...shape }: QueryShape) {
  return (
    <tr>
      <th scope="row">
        <code title={short(text, 1000)}>{short(text, 160)}</code>
      </th>
      <td>
        <a href={containerPath(db, container, 'query')}>
          {short(db, 30)}/{short(container, 30)}
        </a>{' '}
        <span class="muted">{apiName(api)}</span>
      </td>
      <td class="number">{units(ru)}</td>
      <td class="number">{count(queries)}</td>
      <td class="number">{units(ru / Math.max(1, queries))}</td>
      <td class="number">{units(ms / Math.max(1, pages))}</td>
      <td class="number">{units(shape.fanOut)}</td>
      <td class="number">{units(shape.rowsPerPage)}</td>
    </tr>
  );
}
