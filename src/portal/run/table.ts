/** OData of the Table API: a filter alone, or the options of a query: `$filter=…&$select=…`. */
import type { TableClient } from '../local/http-clients.ts';
import { RunError } from './run-error.ts';
import type { Runner } from './runner.ts';

const CONTINUATIONS = ['NextPartitionKey', 'NextRowKey'] as const;

export function tableRunner(ask: TableClient): Runner {
  return async ({ container, text, limit, continuation, signal }) => {
    const query = optionsOf(text.trim());
    query.set('$top', String(Math.min(limit, Number(query.get('$top') ?? limit) || limit)));
    for (const [name, value] of new URLSearchParams(continuation ?? '')) query.set(name, value);
    const path = `/${encodeURIComponent(container)}()`;
    const reply = await ask({ path, query: query.toString().replaceAll('+', '%20'), signal });
    const body = JSON.parse(reply.body.toString('utf8'));
    if (reply.status !== 200) throw refusalOf(body, reply.headers['x-ms-request-id']);
    const next = new URLSearchParams();
    for (const name of CONTINUATIONS) {
      const value = reply.headers[`x-ms-continuation-${name.toLowerCase()}`];
      if (value !== undefined) next.set(name, value);
    }
    return {
      rows: (body.value as object[]).map((entity) => JSON.stringify(plain(entity))),
      charge: Number(reply.headers['x-ms-request-charge'] ?? 0),
      continuation: next.size === 0 ? undefined : next.toString(),
    };
  };
}

function optionsOf(text: string): URLSearchParams {
  if (text === '') return new URLSearchParams();
  if (text.startsWith('$'))
    return new URLSearchParams(text.replaceAll('+', '%2B').replaceAll('\n', ' '));
  return new URLSearchParams({ $filter: text });
}

/** Types stay beside their values; links and ids of the protocol are left out. */
function plain(entity: object): object {
  return Object.fromEntries(
    Object.entries(entity).filter(([name]) => !name.startsWith('odata.') || name === 'odata.etag'),
  );
}

export function refusalOf(body: unknown, activityId: string | undefined): RunError {
  const error = (body as { 'odata.error'?: { code: string; message: { value: string } } })[
    'odata.error'
  ];
  const [first = 'The Table API refused the query.'] = (error?.message.value ?? '').split('\n');
  return new RunError(error?.code ?? 'BadRequest', first, { activityId });
}
