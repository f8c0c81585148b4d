/**
 * Requests of the Table API, byte for byte what the stock JavaScript client sends, signed before the clock runs. Entities have
 * ten properties and about 500 bytes; new ones are numbered after all others.
 */
import { createHmac } from 'node:crypto';
import {
  type LoadRequest,
  TABLE_BATCH,
  TABLE_PARTITIONS,
  type TableOperation,
} from './protocol.ts';
import type { RequestSource } from './requests.ts';

const ACCOUNT = 'devstoreaccount1';
/** Rows that a filtered query returns, independent of the table's size. */
export const FILTERED_ROWS = 10;
/** New entities of single inserts go round over as many keys as those that are read. */
const NEW_PARTITION = 1_000_000;

export interface TablePlace {
  readonly port: number;
  readonly table: string;
  /** Base64. */
  readonly accountKey: string;
}

export function tableRequests(load: LoadRequest, operation: TableOperation): RequestSource {
  const { port, container: table, itemCount, accountKey = '' } = load;
  const place = { port, table, accountKey };
  const rows = itemCount / TABLE_PARTITIONS;
  switch (operation) {
    case 'tableGet':
      return cycle(gets(place, rows), load, 200);
    case 'tableQuery':
      return cycle(queries(place, rows), load, 200);
    case 'tableInsert':
      return news(load, 204, (number) => {
        const body = entityText(NEW_PARTITION + (number % TABLE_PARTITIONS), number, rows);
        return printRequest(place, { verb: 'POST', path: table, body, lines: INSERT_LINES });
      });
    case 'tableBatch':
      return news(load, 202, (number) => batchRequest(place, NEW_PARTITION + number, 0, rows));
  }
}

/** A change set of new entities of one partition, `from` the first row. */
export function batchRequest(
  place: TablePlace,
  partition: number,
  from: number,
  rows: number,
): string {
  const { port, table } = place;
  const changes = 'changeset_6bf8945e-f6c6-4a72-b997-283539c3f19e';
  const part =
    `--${changes}\r\ncontent-type: application/http\r\ncontent-transfer-encoding: binary\r\n\r\n` +
    `POST http://127.0.0.1:${port}/${ACCOUNT}/${table} HTTP/1.1\r\n` +
    'Content-Type: application/json;odata=nometadata\r\nAccept: application/json;odata=minimalmetadata\r\n' +
    'DataServiceVersion: 3.0\r\nPrefer: return-no-content\r\n\r\n\r\n';
  let body = `--batch_1\r\ncontent-type: multipart/mixed; boundary=${changes}\r\n\r\n\r\n`;
  for (let row = from; row < from + TABLE_BATCH; row++)
    body += `${part}${entityText(partition, row, rows)}\r\n`;
  body += `--${changes}--\r\n--batch_1--\r\n`;
  return printRequest(place, { verb: 'POST', path: '$batch', body, lines: BATCH_LINES });
}

export function tableCreation(place: TablePlace): string {
  const body = JSON.stringify({ TableName: place.table });
  return printRequest(place, { verb: 'POST', path: 'Tables', body, lines: JSON_LINES });
}

const ACCEPT = 'Accept: application/json;odata=minimalmetadata\r\n';
const JSON_LINES = `Content-Type: application/json;odata=nometadata\r\n${ACCEPT}`;
const INSERT_LINES = `${JSON_LINES}Prefer: return-no-content\r\n`;
const BATCH_LINES =
  'accept: application/json\r\nMaxDataServiceVersion: 3.0;NetFx\r\nContent-Type: multipart/mixed; boundary=batch_1\r\nAccept-Charset: UTF-8\r\n';

/** @param rows - of a partition: so many that ten of them share a `count`. */
function entityText(partition: number, row: number, rows: number): string {
  const text = `${partition}-${row}-`.padEnd(100, 'x');
  const when = new Date(1_700_000_000_000 + row).toISOString();
  return (
    `{"PartitionKey":"p${partition}","RowKey":"${rowKey(row)}","name":"${text}","count":${row % (rows / FILTERED_ROWS)},` +
    `"price":${row}.5,"big":"${row}","big@odata.type":"Edm.Int64","isOn":${row % 2 === 0},` +
    `"when":"${when}","when@odata.type":"Edm.DateTime","more":"${text}","city":"city ${row % 10}"}`
  );
}

function rowKey(row: number): string {
  return `r${String(row).padStart(8, '0')}`;
}

/** One of every partition after the other, with rows far from one another. */
function gets(place: TablePlace, rows: number): readonly string[] {
  const step = 7919;
  return Array.from({ length: Math.min(10_000, rows * TABLE_PARTITIONS) }, (_, at) => {
    const partition = at % TABLE_PARTITIONS;
    const row = (Math.floor(at / TABLE_PARTITIONS) * step) % rows;
    const path = `${place.table}(PartitionKey='p${partition}',RowKey='${rowKey(row)}')`;
    return printRequest(place, { verb: 'GET', path, lines: ACCEPT });
  });
}

function queries(place: TablePlace, rows: number): readonly string[] {
  return Array.from({ length: 1000 }, (_, at) => {
    const count = (at * 7919) % (rows / FILTERED_ROWS);
    const filter = `PartitionKey eq 'p${at % TABLE_PARTITIONS}' and count eq ${count}`;
    const query = `?$filter=${encodeURIComponent(filter).replaceAll("'", '%27')}`;
    return printRequest(place, { verb: 'GET', path: `${place.table}()`, query, lines: ACCEPT });
  });
}

function cycle(
  requests: readonly string[],
  load: LoadRequest,
  expectedStatus: number,
): RequestSource {
  let at = -1;
  return {
    expectedStatus,
    lastNewItem: load.firstNewItem,
    next() {
      at = at + 1 === requests.length ? 0 : at + 1;
      return requests[at] as string;
    },
  };
}

function news(
  load: LoadRequest,
  expectedStatus: number,
  print: (number: number) => string,
): RequestSource {
  let number = load.firstNewItem;
  return {
    expectedStatus,
    get lastNewItem() {
      return number;
    },
    next: () => print(++number),
  };
}

interface Head {
  readonly verb: 'GET' | 'POST';
  /** After the account. */
  readonly path: string;
  readonly query?: string;
  readonly body?: string;
  readonly lines: string;
}

/** All that does not change with the request, by its path. */
const signatures = new Map<string, string>();
const DATE = new Date().toUTCString();

function printRequest(place: TablePlace, { verb, path, query = '', body, lines }: Head): string {
  const { port, accountKey } = place;
  const signedPath = `/${ACCOUNT}/${path}`;
  const cacheKey = `${accountKey}${signedPath}`;
  let signature = signatures.get(cacheKey);
  if (signature === undefined) {
    const text = `${DATE}\n/${ACCOUNT}${signedPath}`;
    const key = Buffer.from(accountKey, 'base64');
    signature = createHmac('sha256', key).update(text).digest('base64');
    signatures.set(cacheKey, signature);
  }
  const head =
    `${verb} ${signedPath}${query} HTTP/1.1\r\n${lines}x-ms-version: 2019-02-02\r\nDataServiceVersion: 3.0\r\n` +
    'Accept-Encoding: gzip,deflate\r\nUser-Agent: azsdk-js-data-tables/13.3.2 core-rest-pipeline/1.24.0 Node/26.10.0 (Linux; x64)\r\n' +
    `x-ms-client-request-id: fa4bf0be-e165-477c-925c-5f6f56bdd756\r\nx-ms-date: ${DATE}\r\n` +
    `authorization: SharedKeyLite ${ACCOUNT}:${signature}\r\nHost: 127.0.0.1:${port}\r\nConnection: keep-alive\r\n`;
  return body === undefined
    ? `${head}\r\n`
    : `${head}content-length: ${body.length}\r\n\r\n${body}`;
}
