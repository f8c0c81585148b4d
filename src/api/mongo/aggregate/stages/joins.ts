/** Stages that read other collections. */
import { parseGraphLookup } from './graph-lookup.ts';
import { parseLookup } from './lookup.ts';
import type { StageTable } from './stage.ts';
import { parseUnionWith } from './union-with.ts';

export const JOIN_STAGES: StageTable = {
  $graphLookup: { parse: parseGraphLookup },
  $lookup: { parse: parseLookup },
  $unionWith: { parse: parseUnionWith },
};
