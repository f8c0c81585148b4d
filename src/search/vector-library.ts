/** The native library for vectors. Without it everything is computed in JavaScript, exactly and more slowly. */
import type { exactSearch, Index } from 'usearch';

export interface VectorLibrary {
  readonly Index: typeof Index;
  readonly exactSearch: typeof exactSearch;
}

let loading: Promise<VectorLibrary | undefined> | undefined;

/** Loads the library with the first vector index; undefined on a platform that it does not support. */
export function loadVectorLibrary(): Promise<VectorLibrary | undefined> {
  loading ??= import('usearch').then(
    (library) => ({ Index: library.Index, exactSearch: library.exactSearch }),
    () => undefined,
  );
  return loading;
}
