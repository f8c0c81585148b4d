// Goal: what the process may open is divided among partitions and connections. Method: texts of /proc/self/limits.
import { expect, test } from 'vitest';
import { OPEN_PARTITIONS_MAX } from '../base/index.ts';
import { openFilesOf } from './open-files.ts';

const limits = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units
Max processes             127234               127234               processes
Max open files            ${soft.padEnd(20)} 1048576              files
`;

test.each<[string | undefined, number, number, boolean]>([
  [limits('600'), 600, 42, true],
  [limits('20'), 20, 4, true],
  [limits('1048576'), 1_048_576, OPEN_PARTITIONS_MAX, false],
  [limits('unlimited'), Number.POSITIVE_INFINITY, OPEN_PARTITIONS_MAX, false],
  ['no such line', 4096, OPEN_PARTITIONS_MAX, false],
  [undefined, 4096, OPEN_PARTITIONS_MAX, false],
])('%j', (text, limit, partitionsMax, isLow) => {
  expect(openFilesOf(text)).toMatchObject({ limit, partitionsMax, isLow });
});
