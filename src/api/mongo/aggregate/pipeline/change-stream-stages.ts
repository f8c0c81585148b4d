/** The stages of change streams where a pipeline must not have them: `$changeStream` opens a stream of its own. */
import { MongoError } from '../../errors.ts';
import type { StageTable } from '../stages/stage.ts';

export const CHANGE_STREAM_STAGES: StageTable = {
  $changeStream: {
    parse: misplaced,
    position: 'first',
    isSource: true,
    isBannedInFacet: true,
    isBannedInLookup: true,
  },
  $changeStreamSplitLargeEvent: { parse: misplaced, isBannedInFacet: true },
};

function misplaced(_argument: unknown, _context: unknown, name: string): never {
  throw new MongoError('IllegalOperation', `${name} can only be used in a $changeStream pipeline`);
}
