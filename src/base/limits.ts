/** Every bound of the system in one place, each with its reason. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Documented item limit of the reference service. */
export const ITEM_BYTES_MAX = 2 * MIB;

/** Documented limits of a transactional batch: operations, and bytes of the request. */
export const BATCH_OPERATIONS_MAX = 100;
export const BATCH_BYTES_MAX = 2 * MIB;

/** Operations of one partial update (documented). */
export const PATCH_OPERATIONS_MAX = 10;

/** Documented limit of an item id, in UTF-8 bytes. */
export const ITEM_ID_BYTES_MAX = 1023;

/** Documented limit of a partition key value with V2 hashing, in UTF-8 bytes. */
export const PARTITION_KEY_BYTES_MAX = 2048;

/** Hierarchical partition keys have at most three levels. */
export const PARTITION_KEY_PATHS_MAX = 3;

/** Documented response page of the reference service. */
export const PAGE_BYTES_MAX = 4 * MIB;

/** Items in a page when the client leaves it to the server. */
export const PAGE_ITEMS_DEFAULT = 100;

/** Addresses of one call that reads many items: as many as one command may write. */
export const READ_MANY_MAX = 10_000;

/** A page never holds more items than this, whatever the client asks for. */
export const PAGE_ITEMS_MAX = 10_000;

/** Names of databases and containers. */
export const RESOURCE_NAME_LENGTH_MAX = 255;

/**
 * Databases and containers of one account together, since all are in memory. The service begins with 500 and allows
 * more on request.
 */
export const RESOURCES_PER_ACCOUNT_MAX = 25_000;

/** Containers that share the throughput of one database (documented). */
export const SHARED_CONTAINERS_MAX = 25;

/** Indexes that a container declares one by one (documented for the MongoDB API). Every write pays for each. */
export const DECLARED_INDEXES_MAX = 500;

/** Scripts of one kind in a container (documented), and any other small resources of one owner. */
export const SCRIPTS_PER_CONTAINER_MAX = 100;
export const RESOURCES_PER_OWNER_MAX = 100_000;

/** Bytes of any key of a store: it fits one index row of every engine. PostgreSQL has the smallest (2,704 bytes). */
export const KEY_BYTES_MAX = 2600;

/** Bytes of all values in an index entry before its digest: with digest and rid it fits in a key. Entries are on disk. */
export const ENTRY_KEPT_BYTES = 2560;

/**
 * Bytes of a partition key and of a row key in a primary key; longer ones end with a digest. Together with the hash of
 * three levels, all its bytes escaped (98), they fill a key.
 */
export const PARTITION_KEY_PART_BYTES_MAX = 600;
export const ROW_KEY_BYTES_MAX = 1900;

/** A text in a key is truncated and hashed beyond this, so that a key fits one PostgreSQL index row (2,704 bytes). */
export const KEY_TEXT_BYTES_MAX = 512;

/** Logical partitions near their limit whose bytes are counted in one physical partition: some hundred kilobytes. */
export const HEAVY_KEYS_MAX = 1024;

/**
 * The largest body of any API: a document of MongoDB, with the bytes that it allows for commands. A value in a store has
 * room for the header and the key of a record too. Each API keeps its own limit.
 */
export const BODY_BYTES_MAX = 16 * MIB + 16 * KIB;
export const VALUE_BYTES_MAX = 16 * MIB + 64 * KIB;

/** Writes waiting in one partition. More are refused, so that a slow disk cannot fill the memory. */
export const PENDING_WRITES_MAX = 10_000;

/** Bytes of bodies waiting in one partition, for the same reason. */
export const PENDING_WRITE_BYTES_MAX = 64 * MIB;

/** Bytes of one engine batch. A group of writes ends here so that one commit stays short. */
export const COMMIT_BYTES_MAX = 8 * MIB;

/** Writes of a sequence that are one command, and the bytes of their bodies: one decision takes some milliseconds. */
export const SEQUENCE_WRITES_MAX = 1000;
export const SEQUENCE_BYTES_MAX = 4 * MIB;

/** A note beside a write: the result of a write that may be sent again. Their number is bounded by their expiry. */
export const NOTE_BYTES_MAX = 64 * KIB;

/** Memory for hot records, all partitions of the process together. */
export const RECORD_CACHE_BYTES = 32 * MIB;
/**
 * Memory for rids by key and by value, all partitions of the process together. The rids by key of four million items
 * fit.
 */
export const RID_CACHE_BYTES = 64 * MIB;

/** Rows a query may hold at once to sort, group or deduplicate: some hundred megabytes at worst. */
export const QUERY_ROWS_MAX = 500_000;

/** Bytes of those rows. An evaluation thread has a few times as much memory. */
export const QUERY_KEPT_BYTES_MAX = 128 * MIB;

/** Items that one page of a query reads before it ends with a continuation. */
export const QUERY_ITEMS_PER_PAGE = 20_000;

/** Index entries that one partition keeps in memory before it flushes them in order: some megabytes. */
export const INDEX_MEMTABLE_ENTRIES = 40_000;

/**
 * Partitions kept open, if the process may open enough files. Beyond that the least recently used idle one is closed.
 */
export const OPEN_PARTITIONS_MAX = 256;

/** The limit grows by this factor while no open partition is idle. Beyond that, opening another is refused. */
export const OPEN_PARTITIONS_SURGE = 1.5;

/**
 * Files of one open partition, with a margin: database and log of the connections for writing and reading, their
 * shared index, and the same again while a snapshot is read or the log is checkpointed.
 */
export const FILES_PER_PARTITION = 10;

/** A partition that is unused for this long is closed. */
export const PARTITION_IDLE_MS = 60_000;

/** Tombstones are kept this long for movers and feeds that have to see a deletion. */
export const TOMBSTONE_RETENTION_SEC = 24 * 3600;

/** Expirations that a partition keeps in memory ahead of time: a megabyte or two. */
export const EXPIRY_CALENDAR_ITEMS = 50_000;

/** Deleted key ranges of one partition that wait for the sweeper. Every read compares with each of them. */
export const RANGE_TOMBSTONES_MAX = 1000;

/** Vector and full text indexes of all partitions of the process. They are rebuilt when they are needed again. */
export const SEARCH_MEMORY_BYTES = 1024 * MIB;

/** Nesting of a JSON item (documented). */
export const NESTING_MAX = 128;

/** Nesting of a BSON document, as in MongoDB. */
export const BSON_NESTING_MAX = 200;

/** Threads for queries whose rows take long. They run at a lower priority than the thread that serves requests. */
export const EVALUATION_THREADS_MAX = 2;

/** Heap of an evaluation thread: several times what a query may keep and what it may compute from one item. */
export const EVALUATION_MEMORY_MB = 512;

/** Time limit of the rows of one page in such a thread, and the time after which a page ends if it can. */
export const EVALUATION_PAGE_MS = 5000;
export const EVALUATION_PAGE_TARGET_MS = 1500;

/** Pages waiting for such a thread, and the longest wait. More are refused. */
export const EVALUATION_QUEUE_MAX = 200;
export const EVALUATION_WAIT_MS = 15_000;

/** An evaluation thread that is unused for this long is ended. */
export const EVALUATION_IDLE_MS = 60_000;

/** Combinations that the JOINs of a query may make of one item: some tenths of a second, in which nothing else runs. */
export const ITEM_COMBINATIONS_MAX = 10_000_000;

/** Threads that run scripts; more of them would take the processors from the thread that serves requests. */
export const SCRIPT_THREADS_MAX = 4;

/** A script thread that is unused for this long is ended. */
export const SCRIPT_THREAD_IDLE_MS = 60_000;

/** Scripts waiting for a thread, and the longest wait. More are refused. */
export const SCRIPT_QUEUE_MAX = 1000;
export const SCRIPT_WAIT_MS = 10_000;

/** Calls of one script on its collection. */
export const SCRIPT_CALLS_MAX = 10_000;

/** Calls of one round of a script, and their characters: answering them takes one turn of the event loop at most. */
export const SCRIPT_ROUND_CALLS_MAX = 100;
export const SCRIPT_ROUND_CHARACTERS_MAX = 512 * KIB;

/** Characters that a script may log. */
export const SCRIPT_LOG_CHARACTERS_MAX = 64 * KIB;

/** Text of one script. */
export const SCRIPT_BYTES_MAX = 512 * KIB;

/** Bytes that one script may write: its transaction is one commit. */
export const SCRIPT_WRITE_BYTES_MAX = 16 * MIB;

/** Times a script is run again because other writers changed what it read. */
export const SCRIPT_ATTEMPTS_MAX = 10;

/** Throttled requests that wait in the server, and their bytes: without bounds, memory would grow with the overload. */
export const WAITING_REQUESTS_MAX = 1000;
export const WAITING_BYTES_MAX = 64 * MIB;

/** Transactions over partitions that are open at once, and the bytes that all of them together may have written. */
export const TRANSACTIONS_OPEN_MAX = 1000;
export const TRANSACTIONS_BYTES_MAX = 256 * MIB;

/** Items that one transaction may read by key or write, and the bytes of its writes: both are kept in memory. */
export const TRANSACTION_ITEMS_MAX = 250_000;
export const TRANSACTION_BYTES_MAX = 64 * MIB;

/** Life of a transaction: the default, and the most a caller may ask for. */
export const TRANSACTION_LIFETIME_MS = 60_000;
export const TRANSACTION_LIFETIME_MS_MAX = 10 * 60_000;

/** Items and bytes of one chunk of a prepared transaction: a commit stays short, other writers come in between. */
export const TRANSACTION_CHUNK_ITEMS = 1000;
export const TRANSACTION_CHUNK_BYTES = 4 * MIB;

/** Time that a write waits for an item that a prepared transaction holds. Holding usually takes two commits. */
export const HELD_ITEM_WAIT_MS = 5000;

/** Time that a split or merge waits for prepared transactions before it is given up. */
export const DRAIN_WAIT_MS = 10_000;

/** Changes that a transaction with queries examines; more count as a conflict. */
export const WATCHED_CHANGES_MAX = 1000;
