/** A new database, with throughput that its containers share, or without. */
import { useState } from 'preact/hooks';
import { refreshAccount } from '../lib/account.ts';
import { nosql } from '../lib/api.ts';
import { databasePath, navigate } from '../lib/router.ts';
import { FormDialog, TextField } from './form.tsx';

export function NewDatabase() {
  const [id, setId] = useState('');
  const [isShared, setShared] = useState(false);
  const [throughput, setThroughput] = useState('1000');
  const create = async (): Promise<void> => {
    await nosql(['dbs'], {
      method: 'POST',
      headers: isShared ? { 'x-ms-offer-throughput': throughput } : {},
      body: JSON.stringify({ id }),
    });
    await refreshAccount();
    navigate(databasePath(id));
  };
  return (
    <FormDialog title="New database" action="Create" isComplete={id !== ''} onSubmit={create}>
      <TextField label="Name" value={id} onValue={setId} placeholder="shop" />
      <label class="check">
        <input
          type="checkbox"
          checked={isShared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        Containers share throughput
      </label>
      {isShared && (
        <TextField
          label="RU/s, shared"
          type="number"
          value={throughput}
          onValue={setThroughput}
          min={400}
          step={100}
        />
      )}
    </FormDialog>
  );
}
