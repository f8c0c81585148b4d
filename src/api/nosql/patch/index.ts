/** Partial updates, for the rest of the NoSQL API. */
export { type Patch, parsePatch, patchUpdate } from './patch.ts';
