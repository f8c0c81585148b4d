/**
 * Where a killed server keeps its data: a folder of files, or with MESOCOSM_TEST_ENGINE=postgres a schema of its own on the
 * server of MESOCOSM_TEST_POSTGRES. tests/replicas/suites.test.ts starts that server and runs these tests on it.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { nosqlHome } from '../../src/api/nosql/index.ts';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import type { Engine } from '../../src/engine/index.ts';
import { parseConfig } from '../../src/server/config.ts';
import { openStorage } from '../../src/server/storage/index.ts';
import {
  DEFAULT_SETTINGS,
  openService,
  type Service,
  type ServiceOptions,
} from '../../src/service/index.ts';
import { ANY_PORTS, temporaryFolder } from '../server/child-server.ts';

/** Flags of `mesocosm start` that say where the data is. */
export type StorageFlags = readonly string[];

export const isOnPostgres = process.env.MESOCOSM_TEST_ENGINE === 'postgres';

/** Every start of a node on PostgreSQL takes seconds on a busy machine. */
export const TIMEOUT_MS = isOnPostgres ? 1_200_000 : 300_000;

/** In `npm test` a part of each test runs on PostgreSQL. */
export const isShort = isOnPostgres && process.env.MESOCOSM_LONG === undefined;

export function newStorage(): StorageFlags {
  if (!isOnPostgres) return ['--data', join(temporaryFolder(), 'data')];
  const schema = `crash_${randomBytes(6).toString('hex')}`;
  const url = `${process.env.MESOCOSM_TEST_POSTGRES}?schema=${schema}`;
  return ['--engine', url, '--replicas', 'any'];
}

interface OpenStored {
  readonly service: Service;
  readonly engine: Engine;
  close(): Promise<void>;
}

/** The service on stored data as a restart opens it, without a server. */
export async function openStored(
  flags: StorageFlags,
  options: Partial<ServiceOptions> = {},
): Promise<OpenStored> {
  const config = parseConfig(flags, ANY_PORTS);
  if (config === 'help') throw new Error('no help wanted');
  const log = { info: () => undefined, error: () => undefined };
  const storage = await openStorage(config, { log, onTakenOver: () => undefined });
  const service = await openService({
    engine: storage.engine,
    clock: systemClock,
    random: systemRandom,
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [nosqlHome],
    ...options,
  });
  return {
    service,
    engine: storage.engine,
    async close() {
      await service.close();
      await storage.close();
    },
  };
}
