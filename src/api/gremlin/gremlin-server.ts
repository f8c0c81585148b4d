/** The port of this API: WebSockets on any path, and scripts over plain HTTP. */
import { WebSocketServer } from 'ws';
import type { HttpHandler, UpgradedConnection, UpgradeHandler } from '../../http/index.ts';
import { FRAME_BYTES_MAX } from './limits.ts';
import { GremlinConnection, type GremlinParts } from './wire/connection.ts';
import { serveHttp } from './wire/http-requests.ts';

interface GremlinPort {
  readonly handler: HttpHandler;
  readonly upgrade: UpgradeHandler;
}

/** Messages from this size on are compressed, where the client wants it. */
const COMPRESSED_BYTES_MIN = 1024;

export function createGremlinPort(parts: GremlinParts): GremlinPort {
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: { threshold: COMPRESSED_BYTES_MIN, serverNoContextTakeover: true },
  });
  return {
    handler: (exchange) => void serveHttp(exchange, parts),
    upgrade: (request, socket, head) => {
      let connection: UpgradedConnection | undefined;
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        connection = new GremlinConnection(webSocket, parts, request.socket.remoteAddress ?? '');
      });
      return connection;
    },
  };
}
