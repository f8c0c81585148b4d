/** The operations under way. */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import { printDocument } from '../../bson/print.ts';
import type { Call, Command } from '../../call.ts';
import { GENERIC_FIELDS } from '../../fields/generic-fields.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter } from '../../query/filter-test.ts';
import { documentOf, ok } from '../../reply.ts';

const OWN: ReadonlySet<string> = new Set([
  'currentOp',
  '$all',
  '$ownOps',
  '$truncateOps',
  '$local',
]);

export const currentOp: Command = {
  needs: 'read',
  isAdminOnly: true,
  run(call) {
    const filter = [...call.body].filter(([name]) => !OWN.has(name) && !GENERIC_FIELDS.has(name));
    const test = compileFilter(parseFilter(new Map(filter)));
    return ok({ inprog: runningOperations(call).filter(test) });
  },
};

export function runningOperations({ context }: Call): readonly BsonDocument[] {
  const nowMs = context.service.clock.nowMs();
  return context.operations.list().map((operation) => {
    const { command, database, body, startedMs } = operation;
    const target = body.get(command);
    const described: Record<string, Bson> = {
      type: 'op',
      host: 'mesocosm',
      desc: `conn${operation.connectionId}`,
      connectionId: operation.connectionId,
      client: operation.client,
      appName: operation.appName,
      active: true,
      currentOpTime: new Date(nowMs).toISOString(),
      opid: operation.id,
      secs_running: BigInt(Math.floor((nowMs - startedMs) / 1000)),
      microsecs_running: BigInt(Math.max(0, nowMs - startedMs) * 1000),
      op: KINDS[command] ?? 'command',
      ns: `${database}.${typeof target === 'string' ? target : '$cmd'}`,
      redacted: false,
      command: shortened(body),
      numYields: 0,
      locks: documentOf({}),
      waitingForLock: false,
      lockStats: documentOf({}),
      waitingForFlowControl: false,
      flowControlStats: documentOf({}),
    };
    const lsid = body.get('lsid');
    if (lsid !== undefined) described.lsid = lsid;
    return documentOf(described);
  });
}

const KINDS: Readonly<Record<string, string>> = {
  find: 'query',
  getMore: 'getmore',
  insert: 'insert',
  update: 'update',
  delete: 'remove',
};

/** Commands longer than this are cut. */
const TEXT_MAX = 1000;

function shortened(body: BsonDocument): BsonDocument {
  const text = body.size > 50 ? '' : printDocument(body);
  return text.length > 0 && text.length <= TEXT_MAX * 10
    ? body
    : documentOf({ $truncated: text.slice(0, TEXT_MAX) });
}
