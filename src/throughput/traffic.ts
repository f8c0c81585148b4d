/** What a request says about itself that matters for admission. A handful of shared objects: nothing is made per request. */
export interface Traffic {
  /** Refused first when a partition runs short. */
  readonly isLow: boolean;
  /** Throughput bucket 1 to 5 the request counts against; 0: none. */
  readonly bucket: number;
}

export const THROUGHPUT_BUCKETS_MAX = 5;

const ALL: readonly Traffic[] = [false, true].flatMap((isLow) =>
  Array.from({ length: THROUGHPUT_BUCKETS_MAX + 1 }, (_, bucket) => ({ isLow, bucket })),
);

export const NORMAL_TRAFFIC: Traffic = ALL[0] as Traffic;

/** The one object of this kind of traffic. */
export function trafficOf(isLow: boolean, bucket: number): Traffic {
  return ALL[(isLow ? THROUGHPUT_BUCKETS_MAX + 1 : 0) + bucket] ?? NORMAL_TRAFFIC;
}
