/** The messages between the main thread and an evaluation thread: one request, then its response. */
import type { ErrorCode } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import type {
  ComputedDefinition,
  Diagnostic,
  FunctionEnvironment,
  Query,
  QueryParameter,
} from '../sql/index.ts';

/** Everything that the rows of a query depend on, except the items. */
export interface ThreadQuery {
  /** The text, or the tree of a rewritten query, which has no text. */
  readonly query: string | Query;
  readonly parameters: readonly QueryParameter[];
  readonly startMs: number;
  readonly nowMs: number;
  readonly environment: Pick<FunctionEnvironment, 'geospatial' | 'vectorPolicy' | 'textLanguages'>;
  readonly computed: ReadonlyMap<string, ComputedDefinition>;
}

/** The stored bodies of items in one buffer. */
export interface PackedItems {
  readonly bodies: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export type ThreadRequest =
  | (ThreadQuery & { readonly kind: 'begin'; readonly wanted: number | undefined })
  /** Asks for the rows of each item. `rowsGiven` rows of the first item were sent before. */
  | (PackedItems & {
      readonly kind: 'rows';
      readonly rowsGiven: number;
      readonly mayStop: boolean;
    })
  /** Adds items to the fold. */
  | (PackedItems & { readonly kind: 'add' })
  /** Ends the fold and asks for its first rows. */
  | { readonly kind: 'finish' }
  | { readonly kind: 'more' };

/** The text is null for the whole item as it is stored, undefined for a row that the page does not need. */
export type SentRow = readonly [text: string | null | undefined, keys: readonly Value[]];

export type ThreadResponse =
  | { readonly kind: 'ready' }
  | { readonly kind: 'begun' }
  /** One list per item; fewer lists where the thread had to stop. */
  | { readonly kind: 'rows'; readonly lists: readonly (readonly SentRow[])[] }
  | { readonly kind: 'added'; readonly wantsMore: boolean }
  /** Some rows at a time, because reading many at once would block the main thread. */
  | {
      readonly kind: 'finished';
      readonly texts: readonly string[];
      readonly matched: number;
      readonly hasMore: boolean;
    }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'wrong'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'broken'; readonly message: string };
