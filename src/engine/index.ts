export {
  type Batch,
  type Engine,
  type Entry,
  FormatError,
  type KeyRange,
  type KeyScanOptions,
  type ReadView,
  type Snapshot,
  type Store,
} from './engine.ts';
export type { EngineReport } from './engine-report.ts';
export { INTEGER_KEY_PREFIX } from './integer-keys.ts';
