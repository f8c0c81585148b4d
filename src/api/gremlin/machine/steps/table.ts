/** All steps by their names. */
import { SHORTEST_PATH_STEPS } from '../algorithms/shortest-path.ts';
import { PROGRAM_STEPS } from '../algorithms/vertex-programs.ts';
import type { StepTable } from '../compiler.ts';
import { ADJACENT_STEPS } from './adjacent.ts';
import { BOUND_STEPS } from './bounds.ts';
import { BRANCH_STEPS } from './branch.ts';
import { CALL_STEPS } from './call.ts';
import { CHANCE_STEPS } from './chance.ts';
import { COLLECT_STEPS } from './collect.ts';
import { CONVERSION_STEPS } from './conversions.ts';
import { FILTER_STEPS } from './filters.ts';
import { GROUP_STEPS } from './group.ts';
import { HAS_STEPS } from './has.ts';
import { LIST_STEPS } from './lists.ts';
import { MATCH_STEPS } from './match.ts';
import { MERGE_STEPS } from './merge.ts';
import { PROPERTY_STEPS } from './properties.ts';
import { REDUCE_STEPS } from './reduce.ts';
import { REPEAT_STEPS } from './repeat.ts';
import { SACK_STEPS } from './sack.ts';
import { SELECT_STEPS } from './select.ts';
import { START_STEPS } from './start.ts';
import { STRUCTURE_STEPS } from './structure.ts';
import { TEXT_STEPS } from './text.ts';
import { WRITE_STEPS } from './write.ts';

export const STEPS: StepTable = {
  ...ADJACENT_STEPS,
  ...BOUND_STEPS,
  ...BRANCH_STEPS,
  ...CALL_STEPS,
  ...CHANCE_STEPS,
  ...COLLECT_STEPS,
  ...MATCH_STEPS,
  ...MERGE_STEPS,
  ...PROGRAM_STEPS,
  ...SACK_STEPS,
  ...SHORTEST_PATH_STEPS,
  ...STRUCTURE_STEPS,
  ...CONVERSION_STEPS,
  ...FILTER_STEPS,
  ...LIST_STEPS,
  ...TEXT_STEPS,
  ...GROUP_STEPS,
  ...HAS_STEPS,
  ...PROPERTY_STEPS,
  ...REDUCE_STEPS,
  ...REPEAT_STEPS,
  ...SELECT_STEPS,
  ...START_STEPS,
  ...WRITE_STEPS,
};
