/** The reports of the server, as far as the page reads them. */

export interface Session {
  readonly role: 'write' | 'read' | null;
  readonly isOpen: boolean;
  readonly isReadOnly: boolean;
  readonly version: string;
}

export type ApiId = 'nosql' | 'mongo' | 'cassandra' | 'gremlin' | 'table';

export interface Overview {
  readonly version: string;
  readonly since: number;
  readonly apis: readonly {
    readonly api: ApiId;
    readonly endpoint: string | null;
    readonly state: string;
  }[];
  readonly totals: {
    readonly ruPerSec: number;
    readonly throttledPercent: number;
    readonly bytes: number;
    readonly partitions: number;
  };
  readonly databases: readonly { readonly id: string; readonly throughput: number | null }[];
  readonly containers: readonly ContainerOverview[];
}

export interface ContainerOverview {
  readonly db: string;
  readonly container: string;
  readonly api: ApiId;
  readonly kind: string;
  readonly partitionKey: readonly string[];
  readonly throughput: number | null;
  readonly isAutoscale: boolean;
  readonly partitions: number;
  readonly items: number | null;
  readonly bytes: number | null;
  readonly ruPerSec: number;
  readonly lastMinute: readonly number[];
  readonly throttledLastMinute: number;
  readonly hottest: { readonly partition: string; readonly percent: number } | null;
  readonly largestKey: {
    readonly partition: string;
    readonly key?: readonly unknown[];
    readonly bytes: number;
    readonly percent: number;
  } | null;
  readonly alerts: readonly {
    readonly kind: string;
    readonly partition: string;
    readonly key?: readonly unknown[];
    readonly percent: number;
    readonly message: string;
  }[];
}

export interface Partition {
  readonly id: string;
  readonly min: string;
  readonly max: string;
  readonly from: number;
  readonly to: number;
  readonly items: number;
  readonly keys: number;
  readonly keysExact: boolean;
  readonly bytes: number;
  readonly state: string;
  readonly provisioned: number;
  readonly ruPerSec?: number;
  readonly requestUnitsLastMinute: number;
  readonly throttledLastMinute: number;
  readonly servedLastMinute?: number;
  readonly normalizedPercent: number;
  readonly largestKey: { readonly bytes: number; readonly percent: number } | null;
  readonly bornAt: string;
}

export interface Resize {
  readonly kind: string;
  readonly parents: readonly string[];
  readonly children: readonly string[];
  readonly startedAt: string;
  readonly cause: string;
  readonly bytesCopied: number | null;
  readonly state: string;
  readonly durationMs: number | null;
  readonly pauseMs: number | null;
}

export interface PartitionsReport {
  readonly db: string;
  readonly container: string;
  readonly api: ApiId;
  readonly kind: string;
  readonly partitionKey: readonly string[];
  readonly throughput: number | null;
  readonly throughputMode: 'enforce' | 'report';
  readonly isAutoscale: boolean;
  readonly storageLimit: number;
  readonly keyLimit: number;
  readonly partitions: readonly Partition[];
  readonly splits: readonly Resize[];
}

type LiveFigures = Pick<
  Partition,
  | 'id'
  | 'from'
  | 'to'
  | 'provisioned'
  | 'ruPerSec'
  | 'requestUnitsLastMinute'
  | 'throttledLastMinute'
  | 'servedLastMinute'
  | 'normalizedPercent'
>;

interface LivePartition extends LiveFigures {
  /** Null where the partition is not open. */
  readonly items: number | null;
  readonly bytes: number | null;
}

export interface LivePartitions {
  readonly version: number;
  readonly running: readonly { readonly kind: string; readonly parents: readonly string[] }[];
  readonly partitions: readonly LivePartition[];
}

export interface HotKeys {
  readonly minutes: number;
  readonly byRequestUnits: readonly HotKey[];
  readonly byBytes: readonly HotKey[];
  readonly largest: readonly LargeKey[];
}

interface KeyPlace {
  readonly partition: string;
  readonly key?: readonly unknown[];
  readonly hash: string;
}

export interface HotKey extends KeyPlace {
  readonly requestUnits: number;
  readonly percent: number;
  readonly bytes: number;
}

interface LargeKey extends KeyPlace {
  readonly bytes: number;
  readonly percent: number;
}

export interface Series {
  readonly stepSec: number;
  readonly from: number;
  readonly since: number;
  readonly partitions: readonly {
    readonly id: string;
    readonly ru: readonly (number | null)[];
    readonly throttled: readonly (number | null)[];
    readonly served: readonly (number | null)[];
    readonly bytes: readonly (number | null)[];
  }[];
  readonly marks: readonly {
    readonly at: number;
    readonly kind: string;
    readonly cause: string;
    readonly parents: readonly string[];
    readonly children: readonly string[];
  }[];
}

export interface Lineage {
  readonly now: number;
  readonly partitions: readonly PartitionLife[];
  readonly heat: {
    readonly stepSec: number;
    readonly from: number;
    readonly rows: readonly (readonly [string, readonly (number | null)[]])[];
  };
}

export interface PartitionLife {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly parents: readonly string[];
  readonly bornAt: number | null;
  readonly endedAt: number | null;
  readonly cause: string | null;
  readonly bytesCopied: number | null;
  readonly pauseMs: number | null;
}

export interface Plan {
  readonly kind: string;
  readonly partitions: number;
  readonly each: number;
  readonly perKey: number;
  readonly bytesPerKey: number;
  readonly partitionLimit: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly autoscale: { readonly from: number; readonly to: number } | null;
  readonly splits: readonly string[];
  readonly warnings: readonly string[];
}

export interface Explain {
  readonly fanOut: { readonly read: number; readonly of: number };
  readonly isOneKey: boolean | null;
  readonly operators: readonly {
    readonly name: string;
    readonly detail: string;
    readonly requestUnits: number;
  }[];
  readonly accesses: readonly { readonly partition: string; readonly access: string }[];
  readonly facts: readonly (readonly [string, string])[];
  readonly hints: readonly string[];
}

export interface RunResult {
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly unknown[];
  readonly charge: number;
  readonly ms: number;
  readonly partitions: number;
  readonly retries: number;
  readonly continuation: string | null;
  readonly warnings: readonly string[];
  readonly vertexPartitions?: Readonly<Record<string, string>>;
  readonly explain?: Explain;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly activityId?: string;
  };
}

export interface Snippet {
  readonly language: string;
  readonly text: string;
  readonly packages: string;
  readonly languages: readonly string[];
}

export interface SavedQuery {
  readonly id: string;
  readonly name: string;
  readonly api: ApiId;
  readonly db: string;
  readonly container: string;
  readonly text: string;
}

export interface QueryShape {
  readonly db: string;
  readonly container: string;
  readonly api: ApiId;
  readonly text: string;
  readonly count: number;
  readonly pages: number;
  readonly ru: number;
  readonly ms: number;
  readonly fanOut: number;
  readonly equalityPaths: readonly string[];
  readonly rowsPerPage: number;
}

/** Averages over a sample of items. */
export interface WriteEstimate {
  readonly items: number;
  readonly bytes: number;
  readonly before: PolicyCost;
  readonly after: PolicyCost;
}

interface PolicyCost {
  readonly requestUnits: number;
  readonly indexEntries: number;
}

export interface Monitor {
  readonly uptimeSec: number;
  readonly process: {
    readonly cpuSec: number;
    readonly rssBytes: number;
    readonly heapBytes: number;
    readonly lagP50Ms: number;
    readonly lagMaxMs: number;
  };
  readonly operations: readonly {
    readonly api: string;
    readonly resource: string;
    readonly method: string;
    readonly requests: number;
    readonly byStatus: Readonly<Record<string, number>>;
    readonly requestUnits: number;
    readonly p50Ms: number | null;
    readonly p99Ms: number | null;
  }[];
}
