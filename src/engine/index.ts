export * from './engine.ts';
export { NUMBERED_PREFIX } from './numbered.ts';
