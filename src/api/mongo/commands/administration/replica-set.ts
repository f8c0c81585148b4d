/** The replica set of one node that `hello` announces, for shells and monitors. */
import { type Bson, type BsonDocument, Double, Extended } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { documentOf, ok } from '../../reply.ts';
import { addressText, REPLICA_SET } from '../connection/hello.ts';

const TERM = 1n;
const HEARTBEAT_MS = 2000n;

export const replSetGetStatus: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: { initialSync: 'any' },
  run(call) {
    checkReplicaSet(call);
    const date = dateOf(call);
    const opTime = opTimeOf(call);
    return ok({
      set: REPLICA_SET,
      date,
      myState: 1,
      term: TERM,
      syncSourceHost: '',
      syncSourceId: -1,
      heartbeatIntervalMillis: HEARTBEAT_MS,
      majorityVoteCount: 1,
      writeMajorityCount: 1,
      votingMembersCount: 1,
      writableVotingMembersCount: 1,
      optimes: documentOf({
        lastCommittedOpTime: opTime,
        lastCommittedWallTime: date,
        readConcernMajorityOpTime: opTime,
        appliedOpTime: opTime,
        durableOpTime: opTime,
        lastAppliedWallTime: date,
        lastDurableWallTime: date,
      }),
      members: [member(call, opTime, date)],
    });
  },
};

function member({ connection }: Call, optime: Bson, date: Bson): BsonDocument {
  return documentOf({
    _id: 0,
    name: addressText(connection.info),
    health: new Double(1),
    state: 1,
    stateStr: 'PRIMARY',
    uptime: Math.floor(process.uptime()),
    optime,
    optimeDate: date,
    lastAppliedWallTime: date,
    lastDurableWallTime: date,
    syncSourceHost: '',
    syncSourceId: -1,
    infoMessage: '',
    configVersion: 1,
    configTerm: 1,
    self: true,
    lastHeartbeatMessage: '',
  });
}

export const replSetGetConfig: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: { commitmentStatus: 'flag' },
  run(call) {
    checkReplicaSet(call);
    const config = replicaConfig(call);
    const isCommitted = call.args.flag('commitmentStatus');
    return ok({ config, ...(isCommitted ? { commitmentStatus: true } : {}) });
  },
};

/** What the replica set is, as `local.system.replset` has it. */
export function replicaConfig({ connection }: Call): BsonDocument {
  return documentOf({
    _id: REPLICA_SET,
    version: 1,
    term: 1,
    members: [
      documentOf({
        _id: 0,
        host: addressText(connection.info),
        arbiterOnly: false,
        buildIndexes: true,
        hidden: false,
        priority: new Double(1),
        tags: documentOf({}),
        secondaryDelaySecs: 0n,
        votes: 1,
      }),
    ],
    protocolVersion: 1n,
    writeConcernMajorityJournalDefault: true,
  });
}

function checkReplicaSet({ context: { topology } }: Call): void {
  if (topology !== 'replica-set')
    throw new MongoError('NoReplicationEnabled', 'not running with --replSet');
}

function dateOf({ context }: Call): Bson {
  return new Extended({ kind: 'date', ms: context.service.clock.nowMs() });
}

function opTimeOf({ context }: Call): Bson {
  const high = Math.floor(context.service.clock.nowMs() / 1000);
  return documentOf({ ts: new Extended({ kind: 'timestamp', high, low: 1 }), t: TERM });
}
