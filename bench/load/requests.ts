/** Requests as bytes on the wire, signed before the clock runs: the client must not be what is measured. */
import { seededRandom } from '../../src/base/index.ts';
import { itemId, itemText, partitionKeyOf } from './item.ts';
import {
  BATCH_CREATES,
  FUNCTION,
  type LoadRequest,
  type Operation,
  PROCEDURE,
  PROCEDURE_CREATES,
  type QueryOperation,
  type TableOperation,
} from './protocol.ts';
import { signature } from './signer.ts';
import { tableRequests } from './table-requests.ts';

/** Visits, so many that a round at full speed hardly comes to the first one again. */
const SAMPLE = 60_000;

export interface RequestSource {
  next(): string;
  /** Number of the last new item handed out. */
  readonly lastNewItem: number;
  readonly expectedStatus: number;
}

export function requestSource(load: LoadRequest): RequestSource {
  const date = new Date().toUTCString();
  const { operation } = load;
  if (operation === 'create') return creations(load, date);
  if (operation === 'batch') return batches(load, date, BATCH_CREATES);
  if (operation === 'batchOfTen') return batches(load, date, PROCEDURE_CREATES);
  if (operation === 'procedure') return procedures(load, date);
  if (operation === 'read' || operation === 'replace') return visits(load, date);
  if (isTableOperation(operation)) return tableRequests(load, operation);
  return queries(load, operation, date);
}

function isTableOperation(operation: Operation): operation is TableOperation {
  return operation.startsWith('table');
}

/** Rows that an operation requests. */
const ROWS = 10;

function queryText(operation: QueryOperation, number: number): string {
  const id = (at: number): string => `"${itemId(at)}"`;
  switch (operation) {
    case 'equality':
      return `SELECT * FROM c WHERE c.id = ${id(number)}`;
    case 'range':
      return `SELECT * FROM c WHERE c.id >= ${id(number)} AND c.id < ${id(number + ROWS)}`;
    case 'window':
      return `SELECT * FROM c ORDER BY c.id DESC OFFSET 0 LIMIT ${ROWS}`;
    case 'filter':
      return `SELECT * FROM c WHERE CONTAINS(c.id, "x${number}")`;
    case 'long':
      return `SELECT VALUE COUNT(1) FROM c JOIN a IN c.tags JOIN b IN c.readings JOIN d IN c.readings WHERE b + d > ${number}`;
    case 'fold':
      return 'SELECT VALUE SUM(LENGTH(c.id)) FROM c';
    case 'function':
      return `SELECT VALUE SUM(udf.${FUNCTION}(c.id)) FROM c`;
  }
}

/** Over all keys: no partition key header. */
function queries(load: LoadRequest, operation: QueryOperation, date: string): RequestSource {
  const { database, container, itemCount, port } = load;
  const collection = `dbs/${database}/colls/${container}`;
  const signed = signature('POST', 'docs', collection, date);
  const numbers = sample(itemCount - ROWS, load);
  let at = -1;
  return {
    expectedStatus: 200,
    lastNewItem: load.firstNewItem,
    next() {
      at = at + 1 === numbers.length ? 0 : at + 1;
      const body = JSON.stringify({ query: queryText(operation, numbers[at] as number) });
      const head = { verb: 'POST', path: `/${collection}/docs`, port, date };
      return printRequest(head, signed, body);
    },
  };
}

function visits(load: LoadRequest, date: string): RequestSource {
  const { operation, database, container, itemCount, port } = load;
  const verb = operation === 'read' ? 'GET' : 'PUT';
  const collection = `dbs/${database}/colls/${container}`;
  const numbers = sample(itemCount, load);
  const signatures = numbers.map((number) =>
    signature(verb, 'docs', `${collection}/docs/${itemId(number)}`, date),
  );
  let at = -1;
  return {
    expectedStatus: 200,
    lastNewItem: load.firstNewItem,
    next() {
      at = at + 1 === numbers.length ? 0 : at + 1;
      const number = numbers[at] as number;
      const id = itemId(number);
      const key = partitionKeyOf(number);
      const head = { verb, path: `/${collection}/docs/${id}`, port, date, key };
      const body = operation === 'replace' ? itemText(id, key) : undefined;
      return printRequest(head, signatures[at] as string, body);
    },
  };
}

function creations(load: LoadRequest, date: string): RequestSource {
  const collection = `dbs/${load.database}/colls/${load.container}`;
  const signed = signature('POST', 'docs', collection, date);
  const path = `/${collection}/docs`;
  let number = load.firstNewItem;
  return {
    expectedStatus: 201,
    get lastNewItem() {
      return number;
    },
    next() {
      number++;
      const key = partitionKeyOf(number);
      const head = { verb: 'POST', path, port: load.port, date, key };
      return printRequest(head, signed, itemText(itemId(number), key));
    },
  };
}

/** Transactional batches of new items, each with its own key. */
function batches(load: LoadRequest, date: string, creates: number): RequestSource {
  const collection = `dbs/${load.database}/colls/${load.container}`;
  const signed = signature('POST', 'docs', collection, date);
  const path = `/${collection}/docs`;
  let number = load.firstNewItem;
  return {
    expectedStatus: 200,
    get lastNewItem() {
      return number;
    },
    next() {
      const key = partitionKeyOf(number + 1);
      const operations: string[] = [];
      for (let at = 0; at < creates; at++)
        operations.push(
          `{"operationType":"Create","resourceBody":${itemText(itemId(++number), key)}}`,
        );
      const head = { verb: 'POST', path, port: load.port, date, key, isBatch: true };
      return printRequest(head, signed, `[${operations.join(',')}]`);
    },
  };
}

/** The same items by a stored procedure. */
function procedures(load: LoadRequest, date: string): RequestSource {
  const link = `dbs/${load.database}/colls/${load.container}/sprocs/${PROCEDURE}`;
  const signed = signature('POST', 'sprocs', link, date);
  let number = load.firstNewItem;
  return {
    expectedStatus: 200,
    get lastNewItem() {
      return number;
    },
    next() {
      const key = partitionKeyOf(number + 1);
      const items: string[] = [];
      for (let at = 0; at < PROCEDURE_CREATES; at++) items.push(itemText(itemId(++number), key));
      const head = { verb: 'POST', path: `/${link}`, port: load.port, date, key };
      return printRequest(head, signed, `[[${items.join(',')}]]`);
    },
  };
}

interface Head {
  readonly verb: string;
  readonly path: string;
  readonly port: number;
  readonly date: string;
  /** Undefined for a query. */
  readonly key?: string;
  readonly isBatch?: boolean;
}

/** The headers the JavaScript SDK sends. */
function printRequest(head: Head, authorization: string, body: string | undefined): string {
  const lines =
    `${head.verb} ${head.path} HTTP/1.1\r\nhost: 127.0.0.1:${head.port}\r\naccept: application/json\r\n` +
    `authorization: ${authorization}\r\nx-ms-date: ${head.date}\r\nx-ms-version: 2020-07-15\r\n` +
    `${targetLines(head.key)}${head.isBatch === true ? BATCH_LINES : ''}x-ms-documentdb-query-enablecrosspartition: true\r\n` +
    'x-ms-cosmos-sdk-supportedcapabilities: 1\r\ncache-control: no-cache\r\n' +
    'user-agent: bench/1.0 azure-cosmos-js/4.10.1\r\nconnection: keep-alive\r\n';
  if (body === undefined) return `${lines}\r\n`;
  const type = head.key === undefined ? 'query+json' : 'json';
  return `${lines}content-type: application/${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const BATCH_LINES = 'x-ms-cosmos-is-batch-request: true\r\nx-ms-cosmos-batch-atomic: true\r\n';

function targetLines(key: string | undefined): string {
  return key === undefined
    ? 'x-ms-documentdb-isquery: true\r\nx-ms-max-item-count: 100\r\n'
    : `x-ms-documentdb-partitionkey: ["${key}"]\r\n`;
}

/**
 * Numbers below `count` at random, as many whatever the count: requests of a small container that came in its order, or were
 * fewer and so in the caches of the CPU, would be cheaper than those of a large one for that alone. Other ones in every round: what
 * the last round has read is in the caches of the server.
 */
function sample(count: number, { firstNewItem }: LoadRequest): readonly number[] {
  const random = seededRandom(firstNewItem);
  return Array.from({ length: SAMPLE }, () => random.below(count));
}
