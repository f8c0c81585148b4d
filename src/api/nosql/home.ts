/** Containers of the NoSQL API: their bodies are the JSON that clients get. */
import type { HomeApi } from '../../service/index.ts';
import { jsonCodec } from '../../value/index.ts';
import { computedProperties } from './containers/computed-properties.ts';
import { projectRows } from './containers/global-index.ts';
import { nosqlUpdaters } from './items/patch-updater.ts';
import { finishJson } from './items/system-properties.ts';

export const nosqlHome: HomeApi = {
  name: 'nosql',
  codec: jsonCodec,
  finisher: finishJson,
  computed: computedProperties,
  project: projectRows,
  updaters: nosqlUpdaters,
};
