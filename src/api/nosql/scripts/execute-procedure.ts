/** POST on /dbs/{id}/colls/{id}/sprocs/{id}: runs a procedure on one partition key. */
import { isUtf8 } from 'node:buffer';
import { bufferOf, bytesToText, DomainError } from '../../../base/index.ts';
import type { ScriptOutcome } from '../../../script/index.ts';
import type { KeyTransaction } from '../../../service/index.ts';
import { endOfCanonicalValue, OPENING_BRACKET } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import { parseJson } from '../items/json-body.ts';
import { requiredPartitionKey } from '../items/partition-key-header.ts';
import { type Reply, responseInfoHeaders } from '../reply.ts';
import { headerRequestClass } from '../request.ts';
import { findStored } from '../resources/stored-resources.ts';
import { parseSessionToken } from '../session-token.ts';
import { altLink, answerCalls } from './document-calls.ts';
import { logHeaders, withEtags, withLog } from './script-reply.ts';

export async function executeProcedure(call: Call): Promise<Reply> {
  const view = call.ownerContainer();
  view.foreign?.refuse('A stored procedure');
  const { id, properties } = findStored(call, 'storedProcedure');
  const key = requiredPartitionKey(call, view);
  const script = { name: id, source: String(properties.body) };
  const input = {
    args: argumentsOf(call),
    links: { selfLink: view.self, altLink: altLink(view) },
    operation: 'Execute',
  };
  const request = {
    container: view.record,
    partitionKey: key,
    sessionToken: parseSessionToken(call.header('x-ms-session-token')),
    requestClass: headerRequestClass(call),
  };
  const run = await call.service.scripts.begin();
  try {
    const runScript = (transaction: KeyTransaction): Promise<ScriptOutcome> =>
      run.run(script, input, answerCalls({ call, view, key, transaction }));
    const done = await call.service.transactions.run(request, runScript);
    const { responseBody, log } = done.result;
    const headers = [...responseInfoHeaders(done), ...view.scopeHeaders, ...logHeaders(call, log)];
    const body = Buffer.from(withEtags(responseBody, done.etags), 'utf8');
    return { status: 200, charge: done.charge, headers, body };
  } catch (error) {
    throw withLog(call, error);
  } finally {
    run.release();
  }
}

/** The arguments as the text of a JSON array; an empty body means none. */
function argumentsOf({ body }: Call): string {
  if (body.length === 0) return '[]';
  const text = bufferOf(body);
  // Canonical JSON is passed on without parsing it.
  if (text[0] === OPENING_BRACKET && isUtf8(text) && endOfCanonicalValue(text, 0) === text.length)
    return bytesToText(body);
  const sent = parseJson(body);
  if (sent === null) return '[]';
  if (Array.isArray(sent)) return JSON.stringify(sent);
  throw new DomainError(
    'invalidInput',
    'The arguments of a stored procedure must be a JSON array.',
  );
}
