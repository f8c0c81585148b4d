/** Deleting a container or a database: its name is typed, for nothing brings it back. */
import { useState } from 'preact/hooks';
import { overview, refreshAccount } from '../lib/account.ts';
import { nosql } from '../lib/api.ts';
import { count, short } from '../lib/format.ts';
import { databasePath, navigate } from '../lib/router.ts';
import { FormDialog, TextField } from './form.tsx';

export function DeleteResource({
  db,
  container,
}: {
  readonly db: string;
  readonly container?: string;
}) {
  const [typed, setTyped] = useState('');
  const name = container ?? db;
  const path = container === undefined ? ['dbs', db] : ['dbs', db, 'colls', container];
  const gone = overview.value?.containers.filter(
    (known) => known.db === db && (container === undefined || known.container === container),
  );
  const items = gone?.reduce((sum, row) => sum + (row.items ?? 0), 0) ?? 0;
  const remove = async (): Promise<void> => {
    await nosql(path, { method: 'DELETE' });
    await refreshAccount();
    navigate(container === undefined ? '/' : databasePath(db));
  };
  return (
    <FormDialog
      title={`Delete ${short(name, 60)}`}
      action="Delete"
      isDangerous
      isComplete={typed === name}
      onSubmit={remove}
    >
      <p>
        {container === undefined
          ? `The database with its ${gone?.length ?? 0} containers`
          : 'The container'}{' '}
        and all items ({count(items)} in open partitions) are deleted at once. Nothing brings them
        back.
      </p>
      <TextField label={`Type ${short(name, 60)}`} value={typed} onValue={setTyped} />
    </FormDialog>
  );
}
