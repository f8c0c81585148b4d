/**
 * Writes items with pre- and post-triggers in one transaction: a pre-trigger may change the item, an error of a
 * post-trigger undoes the write.
 */
import { bytesToText, DomainError } from '../../../base/index.ts';
import type { StoredResource } from '../../../catalog/index.ts';
import type { Effect } from '../../../partition/index.ts';
import type { ScriptRun } from '../../../script/index.ts';
import type { KeyTransaction } from '../../../service/index.ts';
import { isMap, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { checkedItem } from '../items/item-input.ts';
import { checkJson, parseJsonObject } from '../items/json-body.ts';
import { type KeyValues, requiredPartitionKey } from '../items/partition-key-header.ts';
import { emptyReply, type Reply, responseInfoHeaders } from '../reply.ts';
import { headerRequestClass, ifMatch, wantsMinimal } from '../request.ts';
import { altLink, answerCalls } from './document-calls.ts';
import { logHeaders, withEtags, withLog } from './script-reply.ts';

const PRE_HEADER = 'x-ms-documentdb-pre-trigger-include';
const POST_HEADER = 'x-ms-documentdb-post-trigger-include';

type TriggeredWrite =
  | { readonly kind: 'create' | 'upsert' }
  | { readonly kind: 'replace' | 'delete'; readonly id: string };

/** A cheap test, because most writes have no triggers. */
export function hasTriggers({ headers }: Call): boolean {
  return headers[PRE_HEADER] !== undefined || headers[POST_HEADER] !== undefined;
}

export async function writeWithTriggers(call: Call, write: TriggeredWrite): Promise<Reply> {
  const view = call.ownerContainer();
  view.foreign?.refuse('A trigger');
  const key = requiredPartitionKey(call, view);
  const triggers = {
    pre: namedTriggers(call, view, 'Pre', write),
    post: namedTriggers(call, view, 'Post', write),
  };
  const item = write.kind === 'delete' ? undefined : parseJsonObject(call.body);
  const request = {
    container: view.record,
    partitionKey: key,
    sessionToken: undefined,
    requestClass: headerRequestClass(call),
  };
  const run = await call.service.scripts.begin();
  try {
    const done = await call.service.transactions.run(request, (transaction) =>
      triggered({ call, view, key, run, transaction, triggers }, write, item),
    );
    const { effect, body, log } = done.result;
    const headers = [...responseInfoHeaders(done), ...view.scopeHeaders, ...logHeaders(call, log)];
    const { charge } = done;
    if (effect.item === undefined) return emptyReply(204, { charge, headers });
    const { etag } = effect.item;
    headers.push('etag', done.etags.get(etag) ?? etag, 'x-ms-item-lsn', String(done.lsn));
    const status = effect.kind === 'created' ? 201 : 200;
    if (wantsMinimal(call)) return emptyReply(status, { charge, headers });
    return { status, charge, headers, body: Buffer.from(withEtags(body, done.etags), 'utf8') };
  } catch (error) {
    throw withLog(call, error);
  } finally {
    run.release();
  }
}

interface TriggerScope {
  readonly call: Call;
  readonly view: ContainerView;
  readonly key: KeyValues;
  readonly run: ScriptRun;
  readonly transaction: KeyTransaction;
  readonly triggers: Readonly<Record<'pre' | 'post', readonly StoredResource[]>>;
}

interface Written {
  readonly effect: Effect;
  /** The body of the response as JSON text. */
  readonly body: string;
  readonly log: string;
}

async function triggered(
  scope: TriggerScope,
  write: TriggeredWrite,
  sent: ValueMap | undefined,
): Promise<Written> {
  const logs: string[] = [];
  let item = sent;
  for (const trigger of scope.triggers.pre) {
    const outcome = await fire(scope, trigger, write, { requestBody: item });
    logs.push(outcome.log);
    if (item !== undefined) item = itemOf(outcome.requestBody);
  }
  const effect = await writeItem(scope, write, item);
  let body = effect.item === undefined ? '' : bytesToText(effect.item.body);
  for (const trigger of scope.triggers.post) {
    const responseBody = body === '' ? undefined : JSON.parse(body);
    const outcome = await fire(scope, trigger, write, { requestBody: item, responseBody });
    logs.push(outcome.log);
    // A body that the trigger did not change is sent as it is stored.
    if (body !== '' && outcome.responseBody !== JSON.stringify(responseBody))
      body = outcome.responseBody;
  }
  return { effect, body, log: logs.filter((log) => log !== '').join('\n') };
}

function fire(
  { call, view, key, run, transaction }: TriggerScope,
  { id, properties }: StoredResource,
  { kind }: TriggeredWrite,
  bodies: { readonly requestBody: unknown; readonly responseBody?: unknown },
) {
  const input = {
    args: '[]',
    links: { selfLink: view.self, altLink: altLink(view) },
    operation: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
    ...bodies,
  };
  const script = { name: id, source: String(properties.body) };
  return run.run(script, input, answerCalls({ call, view, key, transaction }));
}

function writeItem(
  { call, view, key, transaction }: TriggerScope,
  write: TriggeredWrite,
  item: ValueMap | undefined,
): Promise<Effect> {
  const conditions = { ifMatch: ifMatch(call) };
  if (write.kind === 'delete' || item === undefined) {
    const id = 'id' in write ? write.id : '';
    return transaction.write([id], { kind: 'delete', ...conditions });
  }
  const addressed = write.kind === 'replace' ? write.id : undefined;
  const { id, ...body } = checkedItem(item, { view, key, addressed });
  return transaction.write([id], { kind: write.kind, ...body, ...conditions });
}

function itemOf(text: string): ValueMap {
  const item = JSON.parse(text) as Value;
  if (!isMap(item))
    throw new DomainError('invalidInput', 'A trigger has set a body that is no JSON object.');
  checkJson(item);
  return item;
}

/** The trigger operations that match a write, besides All. */
const OPERATIONS: Readonly<Record<TriggeredWrite['kind'], readonly string[]>> = {
  create: ['Create'],
  upsert: ['Create', 'Update', 'Replace'],
  replace: ['Update', 'Replace'],
  delete: ['Delete'],
};

function namedTriggers(
  call: Call,
  { record }: ContainerView,
  type: 'Pre' | 'Post',
  { kind }: TriggeredWrite,
): readonly StoredResource[] {
  const names = (call.header(type === 'Pre' ? PRE_HEADER : POST_HEADER) ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const owner = { databaseRid: record.databaseRid, containerRid: record.rid, userRid: 0 };
  return names.map((name) => {
    const trigger = call.service.resources.find(owner, 'trigger', name);
    if (trigger === undefined)
      throw new DomainError('invalidInput', `The trigger '${name}' does not exist.`);
    const { triggerType, triggerOperation } = trigger.properties;
    if (!isSameWord(triggerType, type))
      throw new DomainError(
        'invalidInput',
        `The trigger '${name}' is of type ${String(triggerType)} and cannot be used as ${type}-trigger.`,
      );
    if (!['All', ...OPERATIONS[kind]].some((word) => isSameWord(triggerOperation, word)))
      throw new DomainError(
        'invalidInput',
        `The trigger '${name}' is for the operation ${String(triggerOperation)} and cannot be used with ${kind}.`,
      );
    return trigger;
  });
}

/** Types and operations of triggers are compared without case. */
function isSameWord(sent: Value, word: string): boolean {
  return String(sent).toLowerCase() === word.toLowerCase();
}
