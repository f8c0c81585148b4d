export { asyncEngine as delayedEngine } from '../async-engine.ts';
export { memoryEngine } from './memory-engine.ts';
