/** Search indexes belong to another service: they are refused as a server without it does. */
import type { Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';

const refused: Command = {
  needs: 'read',
  run() {
    throw new MongoError(
      'Location31082',
      'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration. ' +
        'Please connect to Atlas or an AtlasCLI local deployment to enable.',
    );
  },
};

export const createSearchIndexes = refused;
export const dropSearchIndex = refused;
export const updateSearchIndex = refused;
