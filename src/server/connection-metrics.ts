/** Connections of each API, read at every scrape. */
import type { Metrics } from '../base/index.ts';
import type { ApiName } from './config.ts';
import type { Listener } from './listen/index.ts';

/** @param listeners - read at every scrape: they may be opened later. */
export function collectConnections(
  metrics: Metrics,
  listeners: ReadonlyMap<ApiName, Listener>,
): void {
  const open = metrics.gauge({
    name: 'mesocosm_connections',
    help: 'Open connections.',
    labels: ['api'],
  });
  const refused = metrics.counter({
    name: 'mesocosm_refused_connections_total',
    help: 'Connections closed at once because too many were open.',
    labels: ['api'],
  });
  metrics.onCollect(() => {
    for (const [api, { sockets, refusedCount }] of listeners) {
      open.with(api).set(sockets.size);
      refused.with(api).value = refusedCount;
    }
  });
}
