/** Routes of `/_mesocosm/` that need the APIs: queries of all languages, schemas, saved queries, snippets. */
import {
  type AdminRequest,
  type AdminRoute,
  type ApiState,
  jsonContent,
} from '../api/admin/index.ts';
import type { PageRunner, WriteEstimator } from '../api/nosql/index.ts';
import { DomainError } from '../base/index.ts';
import type { Service } from '../service/index.ts';
import type { ValueMap } from '../value/index.ts';
import { type Events, topicsIn } from './events.ts';
import type { TableClient } from './local/http-clients.ts';
import type { Runs } from './run/runs.ts';
import { refusalOf } from './run/table.ts';
import type { SavedQueries } from './saved-queries.ts';
import { schemaOf } from './schema.ts';
import { snippetLanguages, snippetOf } from './snippets.ts';

interface RouteParts {
  readonly service: Service;
  readonly runs: Runs;
  readonly saved: SavedQueries;
  readonly events: Events;
  readonly runPage: PageRunner;
  readonly estimate: WriteEstimator;
  readonly askTable: TableClient;
  readonly apis: () => readonly ApiState[];
  readonly isTls: boolean;
}

const SAMPLE_MAX = 500;
const SAMPLE_MS_MAX = 200;

export function portalRoutes(parts: RouteParts): Readonly<Record<string, AdminRoute>> {
  const { runs, saved } = parts;
  return {
    run: {
      methods: ['POST'],
      needsKey: 'read',
      respond: async ({ body, mayWrite, client }) => ({
        contentType: 'application/json',
        body: `${await runs.run(body, { mayWrite, client })}\n`,
      }),
    },
    'run/*': {
      methods: ['DELETE'],
      needsKey: 'read',
      respond: ({ rest }) => {
        if (!runs.cancel(decodeURIComponent(rest)))
          throw new DomainError('itemNotFound', 'Nothing of this id is under way.');
        return { ...jsonContent({}), status: 204 };
      },
    },
    schema: {
      methods: ['GET'],
      needsKey: 'read',
      respond: async ({ query }) => jsonContent(await sampleSchema(parts, query)),
    },
    saved: {
      methods: ['GET'],
      needsKey: 'read',
      respond: ({ query }) =>
        jsonContent({ saved: saved.list(query.get('db'), query.get('container')) }),
    },
    'saved/*': {
      methods: ['GET', 'PUT', 'DELETE'],
      needsKey: 'read',
      respond: (request) => changeSaved(saved, request),
    },
    events: {
      methods: ['GET'],
      needsKey: 'read',
      open: (exchange, query) =>
        query.get('once') !== '1' && parts.events.open(exchange, topicsIn(query), []),
      respond({ query }) {
        if (query.get('once') === '1') return jsonContent(parts.events.states(topicsIn(query)));
        throw new DomainError(
          'unavailable',
          'No stream can be opened: send the header accept: text/event-stream, or once=1.',
        );
      },
    },
    estimate: {
      methods: ['POST'],
      needsKey: 'read',
      respond: async ({ body }) => jsonContent(await parts.estimate(body)),
    },
    tables: {
      methods: ['POST'],
      needsKey: 'master',
      respond: async ({ body }) => jsonContent(await createTable(parts, body)),
    },
    snippets: {
      methods: ['GET'],
      needsKey: 'read',
      respond: ({ query }) => jsonContent(snippet(parts, query)),
    },
  };
}

async function changeSaved(saved: SavedQueries, { method, rest, body, mayWrite }: AdminRequest) {
  const id = decodeURIComponent(rest);
  if (method !== 'GET' && !mayWrite)
    throw new DomainError('forbidden', 'A key that only reads saves nothing.');
  if (method === 'PUT') return jsonContent(await saved.put(id, body));
  const found = saved.find(id);
  if (found === undefined) throw new DomainError('itemNotFound', 'No query is saved by this id.');
  if (method === 'DELETE') await saved.delete(id);
  return method === 'DELETE' ? { ...jsonContent({}), status: 204 } : jsonContent(found);
}

/** Body: `{"table": "orders", "throughput": 1000}` or `"autoscaleMax"`; made by the Table API itself. */
async function createTable({ askTable }: RouteParts, body: ValueMap): Promise<object> {
  const { table, throughput, autoscaleMax } = body;
  if (typeof table !== 'string') throw new DomainError('invalidInput', 'table is a name.');
  const reply = await askTable({
    path: '/Tables',
    body: { TableName: table },
    headers: {
      ...(typeof throughput === 'number' && { 'x-ms-offer-throughput': String(throughput) }),
      ...(typeof autoscaleMax === 'number' && {
        'x-ms-cosmos-offer-autopilot-settings': JSON.stringify({ maxThroughput: autoscaleMax }),
      }),
    },
  });
  if (reply.status < 300) return { table };
  const { code, message } = refusalOf(JSON.parse(reply.body.toString('utf8')), undefined);
  throw new DomainError('invalidInput', `${code}: ${message}`);
}

async function sampleSchema({ runPage }: RouteParts, query: URLSearchParams): Promise<object> {
  const db = query.get('db') ?? '';
  const container = query.get('container') ?? '';
  const wanted = Number(query.get('sample') ?? SAMPLE_MAX);
  const limit = Math.min(
    SAMPLE_MAX,
    Number.isSafeInteger(wanted) && wanted > 0 ? wanted : SAMPLE_MAX,
  );
  const items: unknown[] = [];
  const startedMs = performance.now();
  let continuation: string | undefined;
  let charge = 0;
  do {
    const page = await runPage({
      request: { db, container, query: 'SELECT * FROM c' },
      limit: Math.min(100, limit - items.length),
      continuation,
      key: undefined,
      signal: undefined,
    });
    for (const row of page.rows) items.push(JSON.parse(row));
    charge += page.charge;
    continuation = page.continuation;
  } while (
    continuation !== undefined &&
    items.length < limit &&
    performance.now() - startedMs < SAMPLE_MS_MAX
  );
  return {
    sampled: items.length,
    charge: Math.round(charge * 100) / 100,
    paths: schemaOf(items),
  };
}

function snippet({ service, apis, isTls }: RouteParts, query: URLSearchParams): object {
  const api = query.get('api') ?? 'nosql';
  const language = query.get('language') ?? 'javascript';
  const db = query.get('db') ?? 'shop';
  const container = query.get('container') ?? 'orders';
  const endpoint = apis().find((known) => known.api === api)?.endpoint;
  const database = service.databases.find(db);
  const paths = database && service.containers.find(database, container)?.partitionKey.paths;
  const place = { api, endpoint: endpoint ?? '', db, container, key: paths?.[0] ?? '/id', isTls };
  const found = snippetOf(language, place);
  if (endpoint === undefined || endpoint === null || found === undefined)
    throw new DomainError('itemNotFound', `There is no snippet for ${api} in ${language}.`);
  return { ...found, languages: snippetLanguages(api) };
}
