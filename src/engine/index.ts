export * from './engine.ts';
export { INTEGER_KEY_PREFIX } from './integer-keys.ts';
