/** Stages over sorted partitions. */
import type { StageTable } from '../stages/stage.ts';
import { parseDensify } from './densify.ts';
import { parseFill } from './fill.ts';
import { parseSetWindowFields } from './set-window-fields.ts';

export const WINDOW_STAGES: StageTable = {
  $densify: { parse: parseDensify },
  $fill: { parse: parseFill },
  $setWindowFields: { parse: parseSetWindowFields },
};
