/** Partial updates, for the rest of the NoSQL API. */
export { parsePatch, patchUpdate } from './patch.ts';
