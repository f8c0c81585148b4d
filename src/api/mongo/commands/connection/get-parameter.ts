/** Parameters that clients ask for. They can be set in this process, and most change nothing. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { GENERIC_FIELDS } from '../../fields/generic-fields.ts';
import { documentOf, ok } from '../../reply.ts';

const PARAMETERS: Readonly<Record<string, Bson>> = {
  acceptApiVersion2: false,
  authenticationMechanisms: ['SCRAM-SHA-256', 'SCRAM-SHA-1'],
  authSchemaVersion: 5,
  cursorTimeoutMillis: 600_000n,
  enableTestCommands: false,
  featureCompatibilityVersion: documentOf({ version: '8.0' }),
  internalQueryExecMaxBlockingSortBytes: 104_857_600,
  internalQueryMaxBlockingSortMemoryUsageBytes: 104_857_600,
  internalQueryPlanEvaluationWorks: 10_000,
  localLogicalSessionTimeoutMinutes: 30,
  logLevel: 0,
  logComponentVerbosity: documentOf({ verbosity: 0 }),
  maxTransactionLockRequestTimeoutMillis: 5,
  notablescan: false,
  quiet: false,
  requireApiVersion: false,
  saslHostName: '',
  scramIterationCount: 10_000,
  scramSHA256IterationCount: 15_000,
  transactionLifetimeLimitSeconds: 60,
  ttlMonitorEnabled: true,
  ttlMonitorSleepSecs: 60,
};

/** Parameters that may be set while the server runs. */
const SETTABLE: ReadonlySet<string> = new Set([
  'cursorTimeoutMillis',
  'internalQueryExecMaxBlockingSortBytes',
  'internalQueryMaxBlockingSortMemoryUsageBytes',
  'internalQueryPlanEvaluationWorks',
  'logComponentVerbosity',
  'logLevel',
  'maxTransactionLockRequestTimeoutMillis',
  'notablescan',
  'quiet',
  'requireApiVersion',
  'scramIterationCount',
  'scramSHA256IterationCount',
  'transactionLifetimeLimitSeconds',
  'ttlMonitorEnabled',
  'ttlMonitorSleepSecs',
]);

export const getParameter: Command = {
  needs: 'read',
  isAdminOnly: true,
  run(call) {
    const { body } = call;
    const asked = body.get('getParameter');
    const all = currentParameters(call);
    const isAll = asked === '*' || (isDocument(asked) && asked.get('allParameters') === true);
    if (isAll) return ok(shown(asked, all));
    const found: Record<string, Bson> = {};
    for (const name of body.keys()) {
      const value = Object.hasOwn(all, name) ? all[name] : undefined;
      if (value !== undefined) found[name] = value;
    }
    if (Object.keys(found).length === 0)
      throw new MongoError('InvalidOptions', 'no option found to get');
    return ok(shown(asked, found));
  },
};

function currentParameters({ context }: Call): Readonly<Record<string, Bson>> {
  const hasTests = context.failPoints !== undefined;
  return { ...PARAMETERS, ...context.parameters, enableTestCommands: hasTests };
}

/** With details, where the client asks for them. */
function shown(
  asked: Bson | undefined,
  values: Readonly<Record<string, Bson>>,
): Readonly<Record<string, Bson>> {
  if (!isDocument(asked) || asked.get('showDetails') !== true) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]): [string, BsonDocument] => [
      name,
      documentOf({ value, settableAtRuntime: SETTABLE.has(name), settableAtStartup: true }),
    ]),
  );
}

export const setParameter: Command = {
  needs: 'write',
  isAdminOnly: true,
  run(call) {
    const { body, name, context } = call;
    const sent = [...body].filter(([field]) => field !== name && !GENERIC_FIELDS.has(field));
    if (sent.length === 0)
      throw new MongoError(
        'InvalidOptions',
        'no option found to set, use help:true to see options ',
      );
    let was: Bson | undefined;
    for (const [field, value] of sent) {
      if (!Object.hasOwn(PARAMETERS, field))
        throw new MongoError('InvalidOptions', `Unrecognized server parameter: ${field}`);
      if (!SETTABLE.has(field))
        throw new MongoError('IllegalOperation', `not allowed to change [${field}] at runtime`);
      was ??= currentParameters(call)[field];
      context.parameters[field] = value;
    }
    return ok(was === undefined ? {} : { was });
  },
};
