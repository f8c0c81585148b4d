/** Executes the calls of a script on a transaction. The arguments of a call are untrusted input. */
import { randomUUID } from 'node:crypto';
import { bytesToText, DomainError, PAGE_BYTES_MAX, textToBytes } from '../../../base/index.ts';
import { parseResourceId } from '../../../catalog/index.ts';
import { type Item, itemNotFound } from '../../../partition/index.ts';
import { allOf } from '../../../query/index.ts';
import type { AnswerCalls, CallAnswer, ScriptCall, ScriptRun } from '../../../script/index.ts';
import type { KeyTransaction } from '../../../service/index.ts';
import { isMap, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { statusOf } from '../errors.ts';
import { rowText } from '../feed.ts';
import { checkedItem } from '../items/item-input.ts';
import { parseJsonObject } from '../items/json-body.ts';
import type { KeyValues } from '../items/partition-key-header.ts';
import { type RequestItem, requestItem } from '../items/request-item.ts';
import { toQuery } from '../query/query-body.ts';
import { keyCondition } from '../query/query-targets.ts';
import { SqlError } from '../sql/index.ts';

/** Rows per page by default. */
const ROWS_DEFAULT = 100;
const ROWS_MAX = 1000;

/** Statuses that a script gets as an error of its call; any other error ends the script. */
const REPORTED_STATUSES: ReadonlySet<number> = new Set([400, 403, 404, 409, 412, 413]);

interface ScriptScope {
  readonly call: Call;
  readonly view: ContainerView;
  readonly key: KeyValues;
  readonly transaction: KeyTransaction;
}

interface RunScope extends ScriptScope {
  /** The running script. */
  readonly run: ScriptRun;
}

/** Executes calls until their results fill a page. */
export function answerCalls(scope: ScriptScope): AnswerCalls {
  return async (calls, run) => {
    const answers: CallAnswer[] = [];
    let characters = 0;
    for (const call of calls) {
      const execute = await resultOrError({ ...scope, run }, call);
      answers.push(execute);
      characters += execute.resource?.length ?? 0;
      if (characters > PAGE_BYTES_MAX) break;
    }
    return answers;
  };
}

async function resultOrError(scope: RunScope, call: ScriptCall): Promise<CallAnswer> {
  try {
    return await execute(scope, call);
  } catch (error) {
    const { status } = statusOf(error);
    const isReported = error instanceof DomainError || error instanceof SqlError;
    if (!isReported || !REPORTED_STATUSES.has(status)) throw error;
    return { error: { number: status, message: error.message } };
  }
}

async function execute(scope: RunScope, call: ScriptCall): Promise<CallAnswer> {
  const { transaction } = scope;
  switch (call.kind) {
    case 'create':
    case 'upsert': {
      checkCollection(scope, call.link);
      const { kind } = call;
      const { item, text } = documentOf(scope, call, kind === 'create');
      const { id, ...body } = checkedItem(item, { ...scope, addressed: undefined, text });
      return resourceOf(
        (await transaction.write([id], { kind, ...body, ...conditionOf(call) })).item,
      );
    }
    case 'replace': {
      const addressed = await itemIdOf(scope, call.link);
      const { item, text } = documentOf(scope, call, false);
      const { id, ...body } = checkedItem(item, { ...scope, addressed, text });
      const written = { kind: 'replace', ...body, ...conditionOf(call) } as const;
      return resourceOf((await transaction.write([id], written)).item);
    }
    case 'delete': {
      const id = await itemIdOf(scope, call.link);
      await transaction.write([id], { kind: 'delete', ...conditionOf(call) });
      return {};
    }
    case 'read': {
      const item = await transaction.read([await itemIdOf(scope, call.link)]);
      if (item === undefined) throw itemNotFound();
      return resourceOf(item);
    }
    case 'query':
      checkCollection(scope, call.link);
      return query(scope, call);
    default:
      throw new DomainError('invalidInput', 'The collection has no such operation.');
  }
}

function resourceOf(item: Item | undefined): CallAnswer {
  return item === undefined ? {} : { resource: bytesToText(item.body) };
}

/** @param mayNeedId - whether a document without an id gets a new one. */
function documentOf(
  { view }: ScriptScope,
  { document }: ScriptCall,
  mayNeedId: boolean,
): RequestItem {
  const bytes = textToBytes(document);
  const sent = requestItem(bytes, view);
  if (!mayNeedId || sent.item.id !== undefined) return sent;
  const whole = sent.text === undefined ? sent.item : parseJsonObject(bytes);
  return { item: { id: randomUUID(), ...whole }, text: undefined };
}

function conditionOf({ etag }: ScriptCall): { readonly ifMatch?: string } {
  return typeof etag === 'string' ? { ifMatch: etag } : {};
}

async function query(scope: RunScope, scriptCall: ScriptCall): Promise<CallAnswer> {
  const { call, view, key, transaction, run } = scope;
  const { query: body, continuation, pageSize } = scriptCall;
  if (!isMap(body as Value))
    throw new DomainError(
      'invalidInput',
      'A query is a text, or an object with a text and parameters.',
    );
  const prepared = call.queries.prepare(view.record, toQuery(body as ValueMap), run);
  const { executable } = prepared;
  try {
    const page = await transaction.query(
      { ...executable, condition: allOf(executable.condition, keyCondition(key, view)) },
      {
        continuation: typeof continuation === 'string' ? continuation : undefined,
        limit: rowsOf(pageSize),
      },
    );
    const { rows, continuation: next } = page;
    return { resource: `[${rows.map(rowText).join(',')}]`, options: { continuation: next } };
  } finally {
    prepared.release();
  }
}

function rowsOf(pageSize: unknown): number {
  if (typeof pageSize !== 'number' || !(pageSize >= 1))
    return pageSize === -1 ? ROWS_MAX : ROWS_DEFAULT;
  return Math.min(Math.floor(pageSize), ROWS_MAX);
}

/** A script may only use its own collection, by name or by resource id. */
function checkCollection(scope: ScriptScope, link: unknown): void {
  if (restOf(scope, link) !== '') throw wrongLink();
}

/** The id of the document that a link names by id or by resource id. */
async function itemIdOf(scope: ScriptScope, link: unknown): Promise<string> {
  const rest = restOf(scope, link);
  if (!rest.startsWith('docs/')) throw wrongLink();
  const name = rest.slice('docs/'.length);
  const rid = parseResourceId(name);
  if (rid?.kind !== 'document' || !isByNumber(scope, link)) return name;
  const item = await scope.transaction.findByRid(rid.document);
  if (item === undefined) throw itemNotFound();
  return JSON.parse(bytesToText(item.body)).id;
}

function isByNumber({ view }: ScriptScope, link: unknown): boolean {
  return trimmed(String(link)).startsWith(trimmed(view.self));
}

/** The part of the link after the collection. */
function restOf({ view }: ScriptScope, link: unknown): string {
  if (typeof link !== 'string') throw wrongLink();
  const path = trimmed(link);
  for (const own of [trimmed(view.self), altLink(view)]) {
    if (path === own) return '';
    if (path.startsWith(`${own}/`)) return path.slice(own.length + 1);
  }
  throw wrongLink();
}

export function altLink({ database, record }: ContainerView): string {
  return `dbs/${database.id}/colls/${record.id}`;
}

function trimmed(link: string): string {
  return link.replace(/^\/+|\/+$/g, '');
}

function wrongLink(): DomainError {
  return new DomainError('invalidInput', 'The link names nothing in the collection of the script.');
}
