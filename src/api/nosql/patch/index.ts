/** Partial updates, for the rest of the NoSQL API. */
export { type Patch, type PatchSurroundings, parsePatch, patchUpdate } from './patch.ts';
