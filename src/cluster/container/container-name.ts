import type { ContainerRecord } from '../../catalog/index.ts';

/** Identifies a container for its whole life; its record is replaced with every change. */
export type ContainerName = Pick<ContainerRecord, 'databaseRid' | 'rid'>;

/** One folder per container, one store per partition. */
export function storeName(container: ContainerName, partitionId: string): string {
  return `${containerFolder(container)}/${partitionId}`;
}

/** The prefix of the store names of a container. */
export function containerFolder({ databaseRid, rid }: ContainerName): string {
  const hex = (number: number): string => number.toString(16).padStart(8, '0');
  return `${hex(databaseRid)}-${hex(rid)}`;
}
