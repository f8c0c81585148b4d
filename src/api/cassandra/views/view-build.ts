/** Fills a new view with the rows that its base table has. */
import { decodeRow } from '../cells/row-codec.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { Call } from '../statements/plan.ts';
import { isHeader } from '../statements/select/row-source.ts';
import { repairRows } from './apply-with-views.ts';

/** Rows that one transaction builds. */
const BUILT_ROWS = 50;

const EVERYTHING = { min: '', max: 'FF' };

/** The base table must already name the view: writes that come meanwhile keep it up themselves. */
export async function buildView(base: Table, view: string, call: Call): Promise<void> {
  let continuation: string | undefined;
  do {
    const page = await call.environment.service.items.scan(base.container, {
      range: EVERYTHING,
      continuation,
      limit: BUILT_ROWS,
    });
    call.spend(page.charge);
    continuation = page.continuation;
    const rows = page.items
      .map(({ body }) => decodeRow(body))
      .filter((row) => !isHeader(row, base.schema));
    await repairRows(base, rows, call, view);
  } while (continuation !== undefined);
}
