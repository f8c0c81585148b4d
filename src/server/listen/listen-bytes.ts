/** Listeners for protocols that are not HTTP; the rules for their connections are in `net`. */
import {
  type ByteProtocol,
  ByteServer,
  type ConnectionInfo,
  type ConnectionLimits,
} from '../../net/index.ts';
import { type Listener, type ListenOptions, openListener } from './listener.ts';

interface ByteListenOptions extends ListenOptions {
  readonly protocol: ByteProtocol;
  /** For tests; those of `net` by default. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Receives errors of the protocol. The connection is closed; others go on. */
  readonly onFailure: (error: unknown, info: ConnectionInfo) => void;
}

/** Serves when the promise resolves. Rejects with ExitError 1. */
export function listenBytes(options: ByteListenOptions): Promise<Listener> {
  const { protocol, limits = {}, onFailure } = options;
  const server = new ByteServer({ protocol, limits, onFailure });
  return openListener(server, options, {
    allowsHalfOpen: false,
    // No protocol has an error that every client reads before it has said hello.
    refusePlain: (socket) => void socket.destroy(),
  });
}
