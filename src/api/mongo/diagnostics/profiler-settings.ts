/** What clients have set with `profile`: a level and a filter for each database, a bound and a share for all. Nothing is recorded. */
import type { BsonDocument } from '../../../value/index.ts';

interface DatabaseProfile {
  readonly level: number;
  readonly filter: BsonDocument | undefined;
}

const NONE: DatabaseProfile = { level: 0, filter: undefined };

export class ProfilerSettings {
  readonly #byDatabase = new Map<string, DatabaseProfile>();
  slowMs = 100;
  sampleRate = 1;

  of(database: string): DatabaseProfile {
    return this.#byDatabase.get(database) ?? NONE;
  }

  set(database: string, profile: DatabaseProfile): void {
    if (profile.level === 0 && profile.filter === undefined) this.#byDatabase.delete(database);
    else this.#byDatabase.set(database, profile);
  }
}
