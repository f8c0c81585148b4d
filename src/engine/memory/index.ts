export { memoryEngine } from './memory-engine.ts';
