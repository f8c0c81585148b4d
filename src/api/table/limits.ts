/** What an entity, a batch and a name may be at most: the documented limits of the reference service. */

/** Characters of PartitionKey and RowKey, in UTF-16: one kibibyte each. */
export const KEY_LENGTH_MAX = 512;
/** Properties beside the keys and the timestamp. */
export const PROPERTIES_MAX = 252;
export const PROPERTY_NAME_LENGTH_MAX = 255;
/** 64 KiB in UTF-16. */
export const STRING_LENGTH_MAX = 32 * 1024;
export const BINARY_BYTES_MAX = 64 * 1024;
export const ENTITY_BYTES_MAX = 1024 * 1024;
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
export const BATCH_OPERATIONS_MAX = 100;
/** Characters of a table's name; in Storage it is 63. */
export const COSMOS_NAME_LENGTH_MAX = 254;
/** Rows of a page, and what $top may ask for. */
export const PAGE_ROWS_MAX = 1000;
export const ACCESS_POLICIES_MAX = 5;
export const ACCESS_POLICY_ID_LENGTH_MAX = 64;
/** Of a filter: what a URL of this length can hold, and no deeper than a parser without end of stack. */
export const FILTER_LENGTH_MAX = 32 * 1024;
export const FILTER_DEPTH_MAX = 100;
/** How long a throttled request waits in the server in total: well below the time after which any client gives up. */
export const RETRY_WAIT_MS_MAX = 5000;
/** Requests that wait so at once, and the bytes of their bodies: beyond, memory would grow with the overload. */
export const WAITING_REQUESTS_MAX = 1000;
export const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** Properties of the service with five rules of 2 KB each, or five policies, with room to spare. */
export const XML_BYTES_MAX = 64 * 1024;
