export { originCheck } from './cors.ts';
export {
  createTableHandler,
  type TableOptions,
  type TableRequestFailure,
} from './handler.ts';
export { sealEntity } from './seal.ts';
export { type KeyCheck, SharedKeys } from './shared-key.ts';
