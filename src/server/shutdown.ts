/** The way down: stop accepting, finish what runs, flush, leave. */
import type { Listener } from './listen.ts';

/** What runs longer than this is cut off. */
export const DRAIN_MS = 10_000;

/** A key press reaches the whole process group, and npm passes it on once more: signals this close are one. */
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
        // Nothing acknowledged is lost: it was durable before. But not all was well, so the code says so.
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

/** Resolves when every request under way is answered, or cut off after DRAIN_MS. */
function drain({ server, sockets, handshakes }: Listener): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = (): void => {
      server.closeIdleConnections();
      // Node counts a connection that never sent anything as busy.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      for (const socket of handshakes) socket.destroy();
    };
    // A connection becomes idle when its last answer is out; only then may it be closed.
    const sweep = setInterval(closeIdle, SWEEP_MS);
    const cut = setTimeout(() => {
      server.closeAllConnections();
      // Those that said nothing yet are none of the server's.
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
