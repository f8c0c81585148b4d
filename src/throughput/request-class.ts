/** What a request says about itself that matters for admission. A handful of shared objects: nothing is made per request. */
export interface RequestClass {
  /** Refused first when a partition runs short. */
  readonly isLow: boolean;
  /** Throughput bucket 1 to 5 the request counts against; 0: none. */
  readonly bucket: number;
  /** What its reads cost as a multiple of those at session consistency: `readFactor` of charge.ts. */
  readonly readFactor: number;
  /** Of a service that sells no request units: counted, never refused, and nobody else waits for it. */
  readonly isUnmetered: boolean;
}

export const THROUGHPUT_BUCKETS_MAX = 5;

const READ_FACTORS = [1, 2];

const ALL: readonly RequestClass[] = READ_FACTORS.flatMap((readFactor) =>
  [false, true].flatMap((isLow) =>
    Array.from({ length: THROUGHPUT_BUCKETS_MAX + 1 }, (_, bucket) => ({
      isLow,
      bucket,
      readFactor,
      isUnmetered: false,
    })),
  ),
);

export const NORMAL_CLASS: RequestClass = ALL[0] as RequestClass;

export const UNMETERED_TRAFFIC: RequestClass = { ...NORMAL_CLASS, isUnmetered: true };

/** The one object of this kind of traffic. */
export function requestClassOf(isLow: boolean, bucket: number, readFactor = 1): RequestClass {
  const kinds = THROUGHPUT_BUCKETS_MAX + 1;
  const at = READ_FACTORS.indexOf(readFactor) * 2 * kinds + (isLow ? kinds : 0) + bucket;
  return ALL[at] ?? NORMAL_CLASS;
}
