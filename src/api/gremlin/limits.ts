/** Bounds of this API, each with its reason. */
import { TRANSACTION_ITEMS_MAX } from '../../base/index.ts';

/** Text of one script (documented by the service). */
export const SCRIPT_LENGTH_MAX = 64 * 1024;

/** Steps of one traversal, nested ones included. The service has 400; a compiled step is small. */
export const STEPS_MAX = 4000;

/** Iterations of one repeat(). The service has 32; the time limit ends what takes long. */
export const REPEAT_MAX = 1000;

/** Time of one request, unless it asks for another (documented by the service); and the most that it may ask for. */
export const TRAVERSAL_MS = 30_000;
export const TRAVERSAL_MS_MAX = 600_000;

/** Traversers that barriers of one traversal hold at the same time: some hundreds of megabytes. */
export const HELD_TRAVERSERS_MAX = 1_000_000;

/** Traversers that steps process at once: so many vertices are looked up with one call per partition. */
export const BATCH_MAX = 1000;

/** Characters of a text that steps make. */
export const TEXT_LENGTH_MAX = 16 * 1024 * 1024;

/** Results in one message, unless the request says otherwise; and the most that it may say. */
export const RESULT_BATCH = 64;
export const RESULT_BATCH_MAX = 10_000;

/** Writes of one traversal: they are one transaction. */
export const WRITES_MAX = TRANSACTION_ITEMS_MAX;

/** Bytes of one frame of a request: a script with large variables. */
export const FRAME_BYTES_MAX = 4 * 1024 * 1024;

/** Requests of one connection under way, and waiting behind them. More are refused. */
export const REQUESTS_UNDER_WAY_MAX = 32;
export const REQUESTS_WAITING_MAX = 1024;

/** Results of one response over HTTP, which has no batches. */
export const HTTP_RESULTS_MAX = 100_000;

/** Sessions of one connection: each may hold a transaction. */
export const SESSIONS_MAX = 16;

/** Bytes of the requests of one connection that wait: also those of clients that have not logged in. */
export const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** A connection without requests for so long is closed (documented by the service). */
export const IDLE_MS = 3_600_000;

/** Unsent bytes of a connection beyond which a traversal waits before it makes more results. */
export const UNSENT_BYTES_MAX = 1024 * 1024;

/** The longest pause before a script runs again because others wrote what it had read. */
export const RETRY_PAUSE_MS_MAX = 200;
