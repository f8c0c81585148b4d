export { originCheck } from './access/cors.ts';
export { type KeyCheck, SharedKeys } from './access/shared-key.ts';
export { finishEntity } from './entities/entity-finisher.ts';
export { createTableHandler } from './handler.ts';
