/** `$listSearchIndexes`: search indexes belong to another service, and are refused as a server without it does. */
import { noSearchIndexes } from '../../errors.ts';
import type { StageTable } from './stage.ts';

export const SEARCH_INDEX_STAGES: StageTable = {
  $listSearchIndexes: {
    parse() {
      throw noSearchIndexes();
    },
    position: 'first',
    isSource: true,
  },
};
