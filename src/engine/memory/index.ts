export { asyncEngine } from '../async-engine.ts';
export { memoryEngine } from './memory-engine.ts';
