export { ConnectionCount } from './connection-count.ts';
export { listenBytes } from './listen-bytes.ts';
export { listenHttp } from './listen-http.ts';
export type { Listener } from './listener.ts';
export { stop, stopOnSignals } from './shutdown.ts';
