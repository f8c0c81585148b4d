export {
  type Batch,
  ConflictError,
  type Engine,
  type Entry,
  type Expectation,
  FormatError,
  type KeyPage,
  type KeyRange,
  type KeyScanOptions,
  type ReadView,
  type ScanOptions,
  type ScanPage,
  type Snapshot,
  type Store,
  type StoreStats,
} from './engine.ts';
export { INTEGER_KEY_PREFIX } from './integer-keys.ts';
