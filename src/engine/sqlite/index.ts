export { sqliteEngine } from './sqlite-engine.ts';
