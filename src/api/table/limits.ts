/** Limits of entities, batches and names, as documented by the reference service. */

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
/** Rows of a page, and the maximum of $top. */
export const PAGE_ROWS_MAX = 1000;
export const ACCESS_POLICIES_MAX = 5;
export const ACCESS_POLICY_ID_LENGTH_MAX = 64;
/** Length and depth of a filter: what a URL can hold, and what the recursive parser's stack allows. */
export const FILTER_LENGTH_MAX = 32 * 1024;
export const FILTER_DEPTH_MAX = 100;
/** How long a throttled request waits in the server in total: well below the time after which any client gives up. */
export const RETRY_WAIT_MS_MAX = 5000;

/** Enough for service properties with five CORS rules of 2 KB each, or five policies. */
export const XML_BYTES_MAX = 64 * 1024;
