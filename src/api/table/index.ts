export {
  createTableHandler,
  type TableHandler,
  type TableOptions,
  type TableRequestFailure,
  type TableRequestReport,
} from './handler.ts';
export { sealEntity } from './seal.ts';
export { type KeyCheck, SharedKeys } from './shared-key.ts';
