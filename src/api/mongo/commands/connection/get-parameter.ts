/** Parameters that clients ask for. They can be set in this process, and most change nothing. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { checkFields } from '../../fields/field-table.ts';
import { GENERIC_FIELDS } from '../../fields/generic-fields.ts';
import { documentOf, ok } from '../../reply.ts';
import { isTrue } from '../documents/statement-fields.ts';

const PARAMETERS: Readonly<Record<string, Bson>> = {
  acceptApiVersion2: false,
  allowDiskUseByDefault: false,
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

/** Parameters that say what the server is: neither a flag nor a command changes them. */
const FIXED: ReadonlySet<string> = new Set([
  'acceptApiVersion2',
  'authenticationMechanisms',
  'authSchemaVersion',
  'featureCompatibilityVersion',
  'localLogicalSessionTimeoutMinutes',
  'saslHostName',
]);

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
    const form = isDocument(asked) ? formOf(asked) : { isAll: asked === '*', setAt: '' };
    const all = currentParameters(call);
    const names = form.isAll ? Object.keys(all) : [...body.keys()];
    const found: Record<string, Bson> = {};
    for (const name of names) {
      const value = Object.hasOwn(all, name) ? all[name] : undefined;
      if (value !== undefined && (!form.isAll || isSetAt(name, form.setAt))) found[name] = value;
    }
    if (Object.keys(found).length === 0)
      throw new MongoError('InvalidOptions', 'no option found to get');
    return ok(shown(asked, found));
  },
};

/** The document instead of a name: which parameters, and how much of them. */
function formOf(asked: BsonDocument): { readonly isAll: boolean; readonly setAt: string } {
  const fields = { showDetails: 'flag', allParameters: 'flag', setAt: 'string' } as const;
  checkFields('getParameter.getParameter', asked, fields, false);
  const setAt = asked.get('setAt') ?? undefined;
  if (setAt !== undefined && setAt !== 'startup' && setAt !== 'runtime')
    throw new MongoError(
      'BadValue',
      `Enumeration value '${String(setAt)}' for field 'getParameter.setAt' is not a valid value.`,
    );
  const isAll = isTrue(asked.get('allParameters'));
  return { isAll, setAt: setAt === undefined ? '' : String(setAt) };
}

function isSetAt(name: string, setAt: string): boolean {
  if (setAt === 'runtime') return SETTABLE.has(name);
  return setAt === '' || !FIXED.has(name);
}

function currentParameters({ context }: Call): Readonly<Record<string, Bson>> {
  const hasTests = context.failPoints !== undefined;
  return { ...PARAMETERS, ...context.parameters, enableTestCommands: hasTests };
}

/** With details, where the client asks for them. */
function shown(
  asked: Bson | undefined,
  values: Readonly<Record<string, Bson>>,
): Readonly<Record<string, Bson>> {
  if (!isDocument(asked) || !isTrue(asked.get('showDetails'))) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]): [string, BsonDocument] => [
      name,
      documentOf({
        value,
        settableAtRuntime: SETTABLE.has(name),
        settableAtStartup: !FIXED.has(name),
      }),
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
