/** The numbers of the format: versions, schemas, types and columns. They are the client's: do not renumber. */

/** The first byte of every row, and so of a body in this form; no JSON text begins with it. */
export const ROW_VERSION = 0x81;

/** Version and schema. */
export const ROW_HEADER_BYTES = 5;

/** The format's own schemas. */
export const SEGMENT_SCHEMA = 2147473648;
export const RECORD_SCHEMA = 2147473649;
/** The schemas of batches. */
export const OPERATION_SCHEMA = 2145473648;
export const RESULT_SCHEMA = 2145473649;

/** Type codes, which precede the token of a sparse field; the two boolean types are their own values. */
export const TYPE_FALSE = 2;
export const TYPE_TRUE = 3;
export const TYPE_INT32 = 7;
export const TYPE_UINT32 = 11;
export const TYPE_FLOAT64 = 16;
export const TYPE_TEXT = 20;

/** Presence bits of an operation: two fixed columns, then variable ones. */
export const OPERATION_BITS = {
  operationType: 1,
  resourceType: 2,
  partitionKey: 4,
  effectivePartitionKey: 8,
  id: 16,
  binaryId: 32,
  resourceBody: 64,
} as const;

/** Tokens of the sparse fields of an operation. They count all columns of the schema, from one. */
export const OPERATION_TOKENS = {
  indexingDirective: 8,
  ifMatch: 9,
  ifNoneMatch: 10,
  timeToLiveInSeconds: 11,
  minimalReturnPreference: 12,
} as const;

export const OPERATION_TYPES: Readonly<Record<number, string>> = {
  0: 'Create',
  1: 'Patch',
  2: 'Read',
  4: 'Delete',
  5: 'Replace',
  20: 'Upsert',
};

/** The only type of resource that a batch may have. */
export const RESOURCE_TYPE_ITEM = 2;

/** Presence bits and tokens of a result. */
export const RESULT_BITS = { statusCode: 1, subStatusCode: 2, eTag: 4, resourceBody: 8 } as const;
export const RESULT_TOKENS = { retryAfterMilliseconds: 5, requestCharge: 6 } as const;
