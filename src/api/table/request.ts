/** Headers and query options as typed values. Their values are checked here and nowhere else. */
import type { ThroughputSetting } from '../../catalog/index.ts';
import type { MetadataLevel } from './entities/entity-reply.ts';
import { TableError } from './errors.ts';
import { PAGE_ROWS_MAX } from './limits.ts';

/** Reads headers: those of the request, or of a part of a batch. */
export type Headers = (name: string) => string | undefined;
export type Query = ReadonlyMap<string, string>;

/** Metadata levels by the names that clients send. */
const LEVELS: ReadonlyMap<string, MetadataLevel> = new Map([
  ['nometadata', 'none'],
  ['minimalmetadata', 'minimal'],
  ['fullmetadata', 'full'],
]);

/** The media type that nearly all clients send. */
const EXACT_LEVELS: ReadonlyMap<string, MetadataLevel> = new Map(
  [...LEVELS].map(([name, level]) => [`application/json;odata=${name}`, level]),
);

/** The level of the first media type that is JSON; Atom is gone from the protocol. */
export function metadataLevel(headers: Headers, query: Query): MetadataLevel {
  const asked = query.get('$format') ?? headers('accept');
  if (asked === undefined || asked === '') return 'minimal';
  const exact = EXACT_LEVELS.get(asked);
  if (exact !== undefined) return exact;
  for (const type of asked.split(',')) {
    const [media = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
    if (media === 'application/json' || media === 'json') return levelOf(parameters);
    if (media === '*/*' || media === 'application/*') return 'minimal';
  }
  if (/atom|xml/i.test(asked)) throw new TableError('AtomFormatNotSupported');
  throw new TableError('MediaTypeNotSupported');
}

function levelOf(parameters: readonly string[]): MetadataLevel {
  const odata = parameters.find((parameter) => parameter.startsWith('odata='));
  if (odata === undefined) return 'minimal';
  const level = LEVELS.get(odata.slice('odata='.length));
  if (level === undefined) throw new TableError('MediaTypeNotSupported');
  return level;
}

export type Preference = 'content' | 'no-content';

/** Undefined where the client leaves it to the service, which then returns content. */
export function preference(headers: Headers): Preference | undefined {
  const sent = headers('prefer');
  if (sent === undefined || sent === '') return undefined;
  if (sent === 'return-no-content') return 'no-content';
  if (sent === 'return-content') return 'content';
  throw new TableError('InvalidHeaderValue', 'The value of the header Prefer is not valid.');
}

/** $top: rows of the page, 1000 by default. */
export function pageRows(query: Query): number {
  const text = query.get('$top');
  if (text === undefined) return PAGE_ROWS_MAX;
  const rows = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (rows < 0 || rows > PAGE_ROWS_MAX) throw new TableError('InvalidInput');
  return rows;
}

/** $select: undefined for all properties. */
export function selectedNames(query: Query): readonly string[] | undefined {
  const text = query.get('$select');
  if (text === undefined || text.trim() === '') return undefined;
  const names = text.split(',').map((name) => name.trim());
  return names.includes('*') ? undefined : names;
}

/** An etag, or `*`; undefined where the operation may also create the entity. */
export function ifMatch(headers: Headers): string | undefined {
  const sent = headers('if-match');
  if (sent === undefined || sent === '') return undefined;
  if (sent === '*') return sent;
  // Etags of this API are weak ones.
  if (/^[Ww]\/"[^"]*"$/.test(sent)) return `W${sent.slice(1)}`;
  throw new TableError(
    'InvalidInput',
    'The etag value specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.',
  );
}

/** Throughput in a request that creates a table. */
export function throughputSetting(headers: Headers): ThroughputSetting | undefined {
  const manual = headers('x-ms-offer-throughput');
  const autoscale = headers('x-ms-cosmos-offer-autopilot-settings');
  if (manual !== undefined && autoscale !== undefined)
    throw new TableError(
      'InvalidHeaderValue',
      'Give one of x-ms-offer-throughput and x-ms-cosmos-offer-autopilot-settings.',
    );
  if (manual !== undefined) {
    if (!/^\d{1,9}$/.test(manual)) throw new TableError('InvalidHeaderValue');
    return { kind: 'manual', requestUnits: Number(manual) };
  }
  if (autoscale === undefined) return undefined;
  const max = /^\s*\{\s*"maxThroughput"\s*:\s*(\d{1,9})\s*\}\s*$/.exec(autoscale)?.[1];
  if (max === undefined) throw new TableError('InvalidHeaderValue');
  return { kind: 'autoscale', requestUnitsMax: Number(max) };
}
