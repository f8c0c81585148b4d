/** The limit of open files, divided among partitions and connections. */
import { readFileSync } from 'node:fs';
import { FILES_PER_PARTITION, OPEN_PARTITIONS_MAX } from '../base/index.ts';

/** Assumed where the system does not report a limit: all systems allow as many. */
const UNKNOWN_LIMIT = 4096;

/** Shares of all files; the rest is for the program itself and for files that are open briefly. */
const PARTITIONS_SHARE = 0.7;
const CONNECTIONS_SHARE = 0.2;

/** Fewer would not serve one query over a container of a few partitions. */
const PARTITIONS_MIN = 4;

export interface OpenFiles {
  readonly limit: number;
  readonly partitionsMax: number;
  /** Connections of all listeners together. */
  readonly connectionsMax: number;
  /** True where the limit allows fewer open partitions than the program would keep. */
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

/** Linux reports the limit in a file; Node has raised the soft limit to the hard one before. */
export function openFiles(): OpenFiles {
  let text: string | undefined;
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Other systems have no such file.
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
