/** The native library for vectors. Where it cannot be loaded, everything is computed here, exactly and more slowly. */
import type { exactSearch, Index } from 'usearch';

export interface VectorLibrary {
  readonly Index: typeof Index;
  readonly exactSearch: typeof exactSearch;
}

let loading: Promise<VectorLibrary | undefined> | undefined;

/** Loaded when the first vector index is made; undefined on a platform it was not built for. */
export function loadVectorLibrary(): Promise<VectorLibrary | undefined> {
  loading ??= import('usearch').then(
    (library) => ({ Index: library.Index, exactSearch: library.exactSearch }),
    () => undefined,
  );
  return loading;
}
