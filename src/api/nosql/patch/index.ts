/** Partial updates, for the rest of the NoSQL API. */
export { type Patch, type PatchContext, parsePatch, patchUpdate } from './patch.ts';
