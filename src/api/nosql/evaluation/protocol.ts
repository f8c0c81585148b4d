/** What the main thread asks of an evaluation thread, and what it answers. One question at a time. */
import type { ErrorCode } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import type {
  ComputedDefinition,
  Diagnostic,
  FunctionEnvironment,
  Query,
  QueryParameter,
} from '../sql/index.ts';

/** All that the rows of a query depend on beside the items. */
export interface ThreadQuery {
  /** Its text, or what was made of it where it has none. */
  readonly query: string | Query;
  readonly parameters: readonly QueryParameter[];
  readonly startMs: number;
  readonly nowMs: number;
  readonly environment: Pick<FunctionEnvironment, 'geospatial' | 'vectorPolicy' | 'textLanguages'>;
  readonly computed: ReadonlyMap<string, ComputedDefinition>;
}

/** Bodies one after the other, as they are stored. */
export interface SentItems {
  readonly bodies: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export type ThreadRequest =
  | (ThreadQuery & { readonly kind: 'begin'; readonly wanted: number | undefined })
  /** Rows of each item. `rowsGiven` of the first are known. */
  | (SentItems & {
      readonly kind: 'rows';
      readonly rowsGiven: number;
      readonly mayStop: boolean;
    })
  /** Folds the items in. */
  | (SentItems & { readonly kind: 'add' })
  /** Ends the fold and begins to hand out its rows. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'more' };

/** Null stands for the text of an item as it is stored, undefined for one that nobody will ask for. */
export type SentRow = readonly [text: string | null | undefined, keys: readonly Value[]];

export type ThreadResponse =
  | { readonly kind: 'ready' }
  | { readonly kind: 'begun' }
  /** One list per item; less of them where it had to stop. */
  | { readonly kind: 'rows'; readonly lists: readonly (readonly SentRow[])[] }
  | { readonly kind: 'added'; readonly wantsMore: boolean }
  /** Some rows at a time: reading many at once would take long. */
  | {
      readonly kind: 'finished';
      readonly texts: readonly string[];
      readonly matched: number;
      readonly hasMore: boolean;
    }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'wrong'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'broken'; readonly message: string };
