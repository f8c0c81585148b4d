/** The paths of the administration on the port of the NoSQL API: they are looked at before that API sees a request. */
import type { Exchange, HttpHandler } from '../../http/index.ts';

export const PREFIX = '/_mesocosm/';

/** Where clients of the official emulator look for the certificate of its authority. */
export const EMULATOR_PATH = '/_explorer/emulator.pem';

/** Where people who know the official emulator look for its pages. */
const EXPLORER_PATH = /^\/_explorer(?:\/|$)/;

interface InFrontOptions {
  readonly admin: HttpHandler;
  /** The port of the portal's pages; undefined where they are not served. */
  readonly portalPort: () => number | undefined;
}

/** A handler that passes to `next` what is not for the administration. */
export function inFrontOf(next: HttpHandler, { admin, portalPort }: InFrontOptions): HttpHandler {
  return function administrationFirst(exchange) {
    const { url } = exchange;
    if (url.startsWith(PREFIX) || url === EMULATOR_PATH) admin(exchange);
    else if (EXPLORER_PATH.test(url)) redirect(exchange, portalPort());
    else next(exchange);
  };
}

/** To the portal under the name by which the client knows this machine. */
function redirect(exchange: Exchange, port: number | undefined): void {
  if (port === undefined) {
    exchange.send(404, ['content-type', 'text/plain'], 'The portal is off: see --portal-port.\n');
    return;
  }
  const url = new URL(exchange.origin);
  url.port = String(port);
  exchange.send(302, ['location', url.href, 'cache-control', 'no-store'], undefined);
}
