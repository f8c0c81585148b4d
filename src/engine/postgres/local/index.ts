export type { LocalMember } from './local-member.ts';
export { LocalReplicaSet } from './local-replica-set.ts';
