/** Containers of the Table API. Their bodies are JSON with the properties that the NoSQL API shows, so no image is needed. */
import type { KeyCodec } from '../../partition/index.ts';
import type { HomeApi } from '../../service/index.ts';
import { edmCodec, type ValueMap } from '../../value/index.ts';
import { finishEntity } from './entities/entity-finisher.ts';
import { tableUpdaters } from './entities/merge-updater.ts';

/** RowKeys of more than 1,900 bytes are cut in their keys and have to be read from the entities. */
const ROW_KEYS: KeyCodec = {
  rowKeyOf: ({ body }) => [(edmCodec.decode(body) as ValueMap).id],
};

export const tableHome: HomeApi = {
  name: 'table',
  codec: edmCodec,
  keys: () => ROW_KEYS,
  finisher: finishEntity,
  updaters: tableUpdaters,
};
