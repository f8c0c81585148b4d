import type { ContainerRecord } from '../catalog/index.ts';

/** Names a container for as long as it lives, whatever becomes of its record. */
export type ContainerName = Pick<ContainerRecord, 'databaseRid' | 'rid'>;

/** One folder per container, one store per partition. */
export function storeName(container: ContainerName, partitionId: string): string {
  return `${containerFolder(container)}/${partitionId}`;
}

/** What the names of a container's stores begin with. */
export function containerFolder({ databaseRid, rid }: ContainerName): string {
  const hex = (number: number): string => number.toString(16).padStart(8, '0');
  return `${hex(databaseRid)}-${hex(rid)}`;
}
