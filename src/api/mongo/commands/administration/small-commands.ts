/** Administration of servers of another kind: what there is nothing to do for. */
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { ok } from '../../reply.ts';

export const dropConnections: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { hostAndPort: 'array!' },
  /** There are no connections to other servers. */
  run({ args }) {
    for (const each of args.optionalList('hostAndPort') ?? []) {
      if (each === null) continue;
      if (typeof each !== 'string') throw wrongType('dropConnections.hostAndPort', each, 'string');
      checkHost(each);
    }
    return ok();
  },
};

/** `host`, `host:port`, or an IPv6 address in brackets with a port. */
function checkHost(text: string): void {
  const [, host = '', port] = /^(\[[^\]]+\]|[^:]*)(?::(.*))?$/.exec(text) ?? [];
  const number = port === undefined ? 1 : /^\d+$/.test(port) ? Number(port) : 0;
  if (host === '' || number < 1 || number > PORT_MAX)
    throw new MongoError('FailedToParse', `Bad host and port: '${text}'`);
}

const PORT_MAX = 65_535;

/** Megabytes whose bytes an int64 holds. */
const TARGET_MAX = 2 ** 43 - 1;

export const autoCompact: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { freeSpaceTargetMB: 'long', runOnce: 'bool' },
  run({ body, name, args }) {
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField(name, name);
    if (typeof sent !== 'boolean') throw wrongType(`${name}.${name}`, sent, 'bool');
    const target = args.optionalCount('freeSpaceTargetMB');
    // What is switched off needs no target.
    if (sent && target !== undefined && target > TARGET_MAX)
      throw new MongoError('BadValue', `freeSpaceTargetMB is too large: ${target}`);
    if (target !== undefined && target < 1)
      throw new MongoError(
        'BadValue',
        `BSON field 'freeSpaceTargetMB' value must be >= 1, actual value '${target}'`,
      );
    return ok();
  },
};

const VERSIONS = ['7.0', '8.0'];

export const setFeatureCompatibilityVersion: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: {
    confirm: 'flag',
    fromConfigServer: 'flag',
    phase: 'string',
    changeTimestamp: 'timestamp',
    downgradeOnDiskChanges: 'flag',
  },
  run({ body, name, args }) {
    const version = body.get(name) ?? null;
    if (typeof version !== 'string') throw wrongType(`${name}.${name}`, version, 'string');
    if (!VERSIONS.includes(version))
      throw new MongoError(
        'Location4926900',
        `Invalid value for featureCompatibilityVersion document: '${version}'. Expected '7.0' or '8.0'`,
      );
    if (!args.flag('confirm'))
      throw new MongoError(
        'Location7369100',
        'Once you have upgraded, please re-run this command with `confirm: true`.',
      );
    return ok();
  },
};
