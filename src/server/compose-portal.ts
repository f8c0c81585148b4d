/** The portal and administration, put together: both are made of the same routes. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Admin,
  type ApiState,
  collectGlobalIndexes,
  collectPartitions,
  collectProcess,
  collectReplicas,
  collectResizes,
  createAdmin,
  SeriesRecorder,
} from '../api/admin/index.ts';
import { createExplainer, createPageRunner, createWriteEstimator } from '../api/nosql/index.ts';
import { createPortal, type Portal, type PortalDoors } from '../portal/index.ts';
import type { ServerParts } from './api-port.ts';
import { API_NAMES, type ApiName, isLoopback } from './config.ts';
import { errorText } from './error-text.ts';

export interface Administration {
  readonly admin: Admin;
  readonly portal: Portal;
  /** Ends what runs in the background. */
  close(): void;
}

const SAMPLE_MS = 1000;

export function openAdministration(
  parts: ServerParts,
  doors: Omit<PortalDoors, 'runPage' | 'estimate'>,
  endpoints: Readonly<Partial<Record<ApiName, string>>>,
): Administration {
  const { service, access, tls, metrics, requests, version, clock, log, config } = parts;
  collectReplicas(metrics, parts.storage);
  collectPartitions(metrics, service);
  collectGlobalIndexes(metrics, service);
  collectResizes(metrics, service);
  collectProcess(metrics, process);
  const startedMs = clock.nowMs();
  const recorder = new SeriesRecorder(service, clock);
  const sampling = setInterval(() => recorder.sample(), SAMPLE_MS).unref();
  const apis = () => apiStates(endpoints);
  const onFailure = ({ error, path }: { readonly error: unknown; readonly path: string }): void =>
    log.error('requestFailed', { path, error: errorText(error) });
  const portal = createPortal({
    service,
    keys: access.keys,
    clock,
    recorder,
    version,
    apis,
    doors: {
      ...doors,
      runPage: createPageRunner(service),
      estimate: createWriteEstimator(service),
    },
    isTls: tls !== undefined,
    savedStore: parts.storage.savedQueries,
    filesPath: builtPagePath(),
    isOpen: () => isLoopback(config.host) && access.isOpenToAnyone(),
    isReadOnly: config.isPortalReadOnly,
    onFailure,
    onRefusal: (refusal) => log.info('accessRefused', { api: 'portal', ...refusal }),
  });
  const admin = createAdmin({
    service,
    metrics,
    requests,
    recorder,
    apis,
    version,
    clock,
    uptimeSec: () => (clock.nowMs() - startedMs) / 1000,
    keys: access.keys,
    explain: createExplainer(service),
    storage: parts.storage,
    areMetricsOpen: isLoopback(config.host),
    authorityPem: tls?.certificates.authorityPem,
    more: portal.routes,
    onRefusal: (refused) => log.info('accessRefused', { ...refused }),
    onFailure,
  });
  return {
    admin,
    portal,
    close() {
      clearInterval(sampling);
      portal.close();
    },
  };
}

function apiStates(endpoints: Readonly<Partial<Record<ApiName, string>>>): readonly ApiState[] {
  return API_NAMES.filter((api) => api !== 'portal').map((api) => ({
    api,
    endpoint: endpoints[api] ?? null,
    state: endpoints[api] === undefined ? 'off' : 'served',
  }));
}

/** Beside the compiled sources; sources that run as they are find what was built before. */
function builtPagePath(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return here.endsWith(join('src', 'server', '/'))
    ? join(here, '../../dist/portal/ui')
    : join(here, '../portal/ui');
}
