export * from './engine.ts';
export { NUMBERED_PREFIX } from './numbered.ts';
export { SCATTERED_PREFIX } from './scattered.ts';
