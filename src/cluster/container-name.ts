import type { ContainerRecord } from '../catalog/index.ts';

/** Names a container for as long as it lives, whatever becomes of its record. */
export type ContainerName = Pick<ContainerRecord, 'databaseRid' | 'rid'>;

/** One folder per container, one store per partition. */
export function storeName(container: ContainerName, partitionId: string): string {
  const hex = (rid: number): string => rid.toString(16).padStart(8, '0');
  return `${hex(container.databaseRid)}-${hex(container.rid)}/${partitionId}`;
}
