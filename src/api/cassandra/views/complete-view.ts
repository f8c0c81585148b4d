/** A view gets the rows that its base table had before; one whose making a crash ended gets them when it is read. */
import { partsOfSchema } from '../schema/alter-table.ts';
import type { Keyspace, Table } from '../schema/keyspaces.ts';
import type { Call } from '../statements/plan.ts';
import { replaceTable } from '../statements/schema-statements.ts';
import { buildView } from './view-build.ts';

/** One change of the schema, which a crash may end anywhere: it is made again from the beginning. */
export async function completeView(view: Table, keyspace: Keyspace, call: Call): Promise<void> {
  const { keyspaces, writes } = call.environment;
  const { name, view: part } = view.schema;
  const baseNow = () => keyspaces.findTable(keyspace, part?.base ?? '');
  const base = baseNow();
  // A table of the same name may have been made since.
  if (part === undefined || base === undefined || base.schema.id !== part.baseId) return;
  const { views } = base.schema;
  if (!views.includes(name))
    await replaceTable(base, { ...partsOfSchema(base.schema), views: [...views, name] }, call);
  await writes.finished();
  await buildView(baseNow() as Table, name, call);
  const { isBuilding: _, ...whole } = part;
  await replaceTable(view, { ...partsOfSchema(view.schema), view: whole }, call);
}

/** Waits for a view that is being made, and goes on where nobody makes it any more. */
export async function awaitView({ schema }: Table, call: Call): Promise<void> {
  const { keyspaces } = call.environment;
  await keyspaces.changeAlone(async () => {
    const keyspace = keyspaces.find(schema.keyspace);
    const now = keyspace && keyspaces.findTable(keyspace, schema.name);
    if (keyspace !== undefined && now?.schema.view?.isBuilding === true)
      await completeView(now, keyspace, call);
  });
}
