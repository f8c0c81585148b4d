/**
 * The properties of a request that matter for admission. There is one shared object per class, so that requests
 * allocate none.
 */
export interface RequestClass {
  /** Low priority: refused first when a partition runs short. */
  readonly isLow: boolean;
  /** Throughput bucket 1 to 5 that the request counts against; 0 for none. */
  readonly bucket: number;
  /** The cost of its reads as a multiple of those at session consistency: `readFactor` of charge.ts. */
  readonly readFactor: number;
  /** True for services without request units (Azure Storage): counted, never refused, and not taken from the budget. */
  readonly isUnmetered: boolean;
}

export const THROUGHPUT_BUCKETS_MAX = 5;

const READ_FACTORS = [1, 2];

const CLASSES: readonly RequestClass[] = READ_FACTORS.flatMap((readFactor) =>
  [false, true].flatMap((isLow) =>
    Array.from({ length: THROUGHPUT_BUCKETS_MAX + 1 }, (_, bucket) => ({
      isLow,
      bucket,
      readFactor,
      isUnmetered: false,
    })),
  ),
);

export const NORMAL_CLASS: RequestClass = CLASSES[0] as RequestClass;

export const UNMETERED_CLASS: RequestClass = { ...NORMAL_CLASS, isUnmetered: true };

/** The shared object of this class. */
export function requestClassOf(isLow: boolean, bucket: number, readFactor = 1): RequestClass {
  const perPriority = THROUGHPUT_BUCKETS_MAX + 1;
  const at =
    READ_FACTORS.indexOf(readFactor) * 2 * perPriority + (isLow ? perPriority : 0) + bucket;
  return CLASSES[at] ?? NORMAL_CLASS;
}
