/** What the runners of all languages have in common. */
import type { Value } from '../../value/index.ts';

export interface RunRequest {
  readonly api: RunApi;
  readonly db: string;
  readonly container: string;
  readonly text: string;
  readonly parameters: Value;
  /** Values of one partition key; NoSQL only. */
  readonly key: readonly Value[] | undefined;
  readonly limit: number;
  readonly continuation: string | undefined;
  readonly wantsExplain: boolean;
  /** False for read-only roles: the API gets a key that only reads. */
  readonly mayWrite: boolean;
  readonly signal: AbortSignal;
}

export const RUN_APIS = ['nosql', 'mongo', 'cassandra', 'gremlin', 'table'] as const;
export type RunApi = (typeof RUN_APIS)[number];

export interface RunPage {
  /** Where the API names and types its columns. */
  readonly columns?: readonly { readonly name: string; readonly type: string }[];
  /** Rows as JSON texts. */
  readonly rows: readonly string[];
  readonly charge: number;
  readonly continuation: string | undefined;
  readonly explain?: Explanation | undefined;
  readonly warnings?: readonly string[];
  /** True where the language reads rows and drops those that do not match. */
  readonly isFiltering?: boolean;
  /** Partitions of graph vertices, by their id. */
  readonly vertexPartitions?: Readonly<Record<string, string>>;
}

/** The same form for every language: how far it fanned out, what each kind of work cost, what to do about it. */
export interface Explanation {
  readonly fanOut: { readonly read: number; readonly of: number };
  readonly isOneKey: boolean | null;
  readonly operators: readonly {
    readonly name: string;
    readonly detail: string;
    readonly requestUnits: number;
  }[];
  /** One line per partition: how candidates were found. */
  readonly accesses: readonly { readonly partition: string; readonly access: string }[];
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly hints: readonly string[];
}

export type Runner = (request: RunRequest) => Promise<RunPage>;
