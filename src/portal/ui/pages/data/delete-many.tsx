/** Deletes the items that were chosen, or all that pass the filter: counted first, stopped when asked. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../lib/api.ts';
import { count, units } from '../../lib/format.ts';
import { run } from '../../lib/run.ts';
import { closeDialog, Dialog } from '../../parts/dialogs.tsx';
import { WriteButton } from '../../parts/shell.tsx';
import { Failure } from '../../parts/states.tsx';
import { deleteItem, type Item } from './item-editor.tsx';

interface DeleteProps {
  readonly db: string;
  readonly container: string;
  readonly partitionKey: readonly string[];
  readonly items: readonly Item[];
  readonly filter: string;
  readonly onDone: () => void;
}

const AT_ONCE = 8;
/** A small item with its index costs about this much. */
const UNITS_EACH = 5;

export function DeleteMany({ db, container, partitionKey, items, filter, onDone }: DeleteProps) {
  const [total, setTotal] = useState(items.length > 0 ? items.length : undefined);
  const [done, setDone] = useState(0);
  const [kept, setKept] = useState(0);
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const isStopped = useRef(false);
  useEffect(() => {
    if (items.length > 0) return;
    run({
      api: 'nosql',
      db,
      container,
      text: `SELECT VALUE COUNT(1) FROM c WHERE ${filter}`,
    }).result.then(
      (result) =>
        result.error === undefined
          ? setTotal(Number(result.rows[0] ?? 0))
          : setError(new ApiError(400, result.error.code, result.error.message)),
      setError,
    );
  }, []);
  const remove = async (batch: Item[]): Promise<void> => {
    const worker = async (): Promise<void> => {
      for (let item = batch.pop(); item !== undefined && !isStopped.current; item = batch.pop()) {
        try {
          await deleteItem(['dbs', db, 'colls', container, 'docs'], partitionKey, item);
          setDone((before) => before + 1);
        } catch (refusal) {
          // Changed or deleted by others meanwhile: it is not what was chosen any more.
          if (!(refusal instanceof ApiError && (refusal.status === 412 || refusal.status === 404)))
            throw refusal;
          setKept((before) => before + 1);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  const start = async (): Promise<void> => {
    setRunning(true);
    setError(undefined);
    try {
      if (items.length > 0) await remove([...items]);
      else
        for (let isMore = true; isMore && !isStopped.current; ) {
          const page = await run({
            api: 'nosql',
            db,
            container,
            text: `SELECT * FROM c WHERE ${filter}`,
            limit: 200,
          }).result;
          await remove([...(page.rows as Item[])]);
          isMore = page.rows.length > 0;
        }
      onDone();
    } catch (refusal) {
      setError(refusal);
    } finally {
      setRunning(false);
    }
  };
  return (
    <Dialog title="Delete items">
      <p>
        {total === undefined
          ? 'Counting…'
          : `${count(total)} items, some ${units(total * UNITS_EACH)} RU.`}{' '}
        Items that others change meanwhile stay.
      </p>
      <progress max={Math.max(1, total ?? 1)} value={done} aria-label="Items deleted" />
      <p class="muted" role="status">
        {count(done)} deleted{kept > 0 ? `, ${count(kept)} kept because they had changed` : ''}
      </p>
      {error !== undefined && <Failure error={error} />}
      <footer>
        <button
          type="button"
          onClick={() => {
            isStopped.current = true;
            closeDialog();
          }}
        >
          {isRunning ? 'Stop' : 'Close'}
        </button>
        <WriteButton class="danger" disabled={isRunning || !total} onClick={() => void start()}>
          Delete
        </WriteButton>
      </footer>
    </Dialog>
  );
}
