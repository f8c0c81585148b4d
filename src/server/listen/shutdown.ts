/** Shutdown: stop accepting, finish open requests, flush, exit. The same for every protocol. */
import type { Listener } from './listener.ts';

/** Requests that run longer than this are cut off. */
const DRAIN_MS = 10_000;

/** Ctrl-C reaches the whole process group, and npm forwards it once more: signals this close count as one. */
const SAME_SIGNAL_MS = 250;

const SWEEP_MS = 20;

interface Shutdown {
  readonly listeners: readonly Listener[];
  /** Flushes and closes what is below the listeners. */
  close(): Promise<void>;
  exit(code: number): void;
  onStopping(signal: string): void;
}

/** On SIGTERM or SIGINT stops in order and exits 0; a second signal exits at once with 1. */
export function stopOnSignals(shutdown: Shutdown): void {
  let stoppingSinceMs: number | undefined;
  const onSignal = (signal: string): void => {
    const nowMs = performance.now();
    if (stoppingSinceMs !== undefined) {
      if (nowMs - stoppingSinceMs > SAME_SIGNAL_MS) shutdown.exit(1);
      return;
    }
    stoppingSinceMs = nowMs;
    shutdown.onStopping(signal);
    stop(shutdown).then(
      () => shutdown.exit(0),
      (error: unknown) => {
        // No acknowledged write is lost, for it was durable before; the exit code reports the failure.
        console.error(error);
        shutdown.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

export async function stop({
  listeners,
  close,
}: Pick<Shutdown, 'listeners' | 'close'>): Promise<void> {
  await Promise.all(listeners.map(drain));
  await close();
}

/** Resolves when every open request has its response, or is cut off after DRAIN_MS. */
function drain({ server, sockets, handshakes }: Listener): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = (): void => {
      server.closeIdleConnections();
      // Node counts a connection that never sent anything as busy.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      for (const socket of handshakes) socket.destroy();
    };
    // A connection becomes idle when its last response is written; only then may it be closed.
    const sweep = setInterval(closeIdle, SWEEP_MS);
    const cut = setTimeout(() => {
      server.closeAllConnections();
      // The server does not count connections that have sent nothing yet.
      for (const socket of sockets) socket.destroy();
    }, DRAIN_MS);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
    closeIdle();
  });
}
