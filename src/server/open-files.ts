/** How many files the process may open, and what that leaves for partitions and connections. */
import { readFileSync } from 'node:fs';
import { FILES_PER_PARTITION, OPEN_PARTITIONS_MAX } from '../base/index.ts';

/** Where the system does not say: what all of them allow. */
const UNKNOWN_LIMIT = 4096;

/** Of all files: the rest is for connections, the program itself and whatever is open for a moment. */
const PARTITIONS_SHARE = 0.7;
const CONNECTIONS_SHARE = 0.2;

/** Fewer would not serve one query over a container of a few partitions. */
const PARTITIONS_MIN = 4;

export interface OpenFiles {
  readonly limit: number;
  readonly partitionsMax: number;
  /** Of all listeners. */
  readonly connectionsMax: number;
  /** True where the limit is what keeps partitions from staying open. */
  readonly isLow: boolean;
}

/** @param text - of `/proc/self/limits`, or undefined where there is none. */
export function openFilesOf(text: string | undefined): OpenFiles {
  const limit = limitIn(text);
  const partitions = Math.floor((limit * PARTITIONS_SHARE) / FILES_PER_PARTITION);
  return {
    limit,
    partitionsMax: Math.max(PARTITIONS_MIN, Math.min(OPEN_PARTITIONS_MAX, partitions)),
    connectionsMax: Math.max(1, Math.floor(limit * CONNECTIONS_SHARE)),
    isLow: partitions < OPEN_PARTITIONS_MAX,
  };
}

/** Linux says so in a file; Node has raised the soft limit to the hard one by then. */
export function openFiles(): OpenFiles {
  let text: string | undefined;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    text = undefined;
  }
  return openFilesOf(text);
}

const LINE = /^Max open files\s+(\S+)/m;

function limitIn(text: string | undefined): number {
  const soft = text === undefined ? undefined : LINE.exec(text)?.[1];
  if (soft === 'unlimited') return Number.POSITIVE_INFINITY;
  const limit = Number(soft);
  return Number.isInteger(limit) && limit > 0 ? limit : UNKNOWN_LIMIT;
}
