import type { ContainerRecord } from '../catalog/index.ts';

/** Names a container for as long as it lives, whatever becomes of its record. */
export type ContainerName = Pick<ContainerRecord, 'databaseRid' | 'rid'>;
