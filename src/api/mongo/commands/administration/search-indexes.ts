/** Search indexes belong to another service: they are refused as a server without it does. */
import type { Command } from '../../call.ts';
import { noSearchIndexes } from '../../errors.ts';

const refused: Command = {
  needs: 'read',
  run() {
    throw noSearchIndexes();
  },
};

export const createSearchIndexes = refused;
export const dropSearchIndex = refused;
export const updateSearchIndex = refused;
