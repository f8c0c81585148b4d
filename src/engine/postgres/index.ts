export { type LocalMember, LocalReplicaSet } from './local/index.ts';
export { type PostgresAddress, parsePostgresAddress } from './postgres-address.ts';
export { openPostgresEngine, type PostgresEngine } from './postgres-engine.ts';
export { checkReplicaSet, type StartFindings, StartRefusal } from './postgres-start-checks.ts';
