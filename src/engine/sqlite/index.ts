export { type SqliteEngineOptions, sqliteEngine } from './sqlite-engine.ts';
