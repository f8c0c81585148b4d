/** Where an engine keeps its stores, and how many copies there are, for operators. */
export interface EngineReport {
  /** memory, sqlite or postgres. */
  readonly engine: string;
  /** The database of PostgreSQL; `local` for the others. */
  readonly instance: string;
  readonly replicas: readonly ReplicaReport[];
  /** Copies that a commit needs, and those that are there. */
  readonly quorum: { readonly needed: number; readonly healthy: number };
}

export interface ReplicaReport {
  readonly name: string;
  readonly role: 'primary' | 'standby';
  readonly state: string;
  /** How far it is behind in applying commits. */
  readonly lagMs: number;
}
