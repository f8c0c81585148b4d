/** All stages by name. */
import { BUCKET_STAGES } from '../stages/bucket.ts';
import { DESCRIBING_STAGES } from '../stages/describing.ts';
import { FACET_STAGES } from '../stages/facet.ts';
import { GEO_STAGES } from '../stages/geo-near.ts';
import { GROUP_STAGES } from '../stages/group.ts';
import { JOIN_STAGES } from '../stages/joins.ts';
import { WRITE_STAGES } from '../stages/out.ts';
import { REDACT_STAGES } from '../stages/redact.ts';
import { SEARCH_INDEX_STAGES } from '../stages/search-indexes.ts';
import { SIMPLE_STAGES } from '../stages/simple.ts';
import type { StageDefinition, StageTable } from '../stages/stage.ts';
import { WINDOW_STAGES } from '../window/window-stages.ts';
import { CHANGE_STREAM_STAGES } from './change-stream-stages.ts';

const TABLES: readonly StageTable[] = [
  BUCKET_STAGES,
  CHANGE_STREAM_STAGES,
  DESCRIBING_STAGES,
  FACET_STAGES,
  GEO_STAGES,
  GROUP_STAGES,
  JOIN_STAGES,
  REDACT_STAGES,
  SEARCH_INDEX_STAGES,
  SIMPLE_STAGES,
  WINDOW_STAGES,
  WRITE_STAGES,
];

export const STAGES: ReadonlyMap<string, StageDefinition> = new Map(
  TABLES.flatMap((table) => Object.entries(table)),
);
