export { originCheck } from './access/cors.ts';
export { type KeyCheck, SharedKeys } from './access/shared-key.ts';
export { createTableHandler } from './handler.ts';
export { tableHome } from './home.ts';
