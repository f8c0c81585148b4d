/** One item: edited as JSON and saved with the etag it was loaded with, so that nobody's change is lost. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError, isRaw, nosql, parseExact } from '../../lib/api.ts';
import { short } from '../../lib/format.ts';
import { isReadOnly, readOnlyReason } from '../../lib/session.ts';
import { closeDialog, Dialog } from '../../parts/dialogs.tsx';
import { Editor } from '../../parts/editor.tsx';
import { WriteButton } from '../../parts/shell.tsx';
import { Failure, Loading } from '../../parts/states.tsx';
import { Conflict } from './conflict.tsx';

export type Item = Readonly<Record<string, unknown>> & { readonly id: string };

const SYSTEM = ['_rid', '_self', '_etag', '_ts', '_attachments', '_lsn'] as const;

interface EditorProps {
  readonly db: string;
  readonly container: string;
  readonly partitionKey: readonly string[];
  /** Undefined: a new one. */
  readonly item: Item | undefined;
  readonly text?: string | undefined;
  readonly onChanged: () => void;
}

export function newItemText(partitionKey: readonly string[]): string {
  const item: Record<string, unknown> = { id: '' };
  for (const path of partitionKey) {
    const [name = ''] = path.split('/').slice(1);
    if (name !== 'id' && name !== '') item[name] = '';
  }
  return JSON.stringify(item, null, 2);
}

/** The values of the key in an item; `{}` is how the API names a missing one. */
export function keyHeader(
  item: Readonly<Record<string, unknown>>,
  paths: readonly string[],
): string {
  const values = paths.map((path) => {
    let value: unknown = item;
    for (const step of path.split('/').slice(1))
      value =
        typeof value === 'object' && value !== null
          ? (value as Record<string, unknown>)[step]
          : undefined;
    return value === undefined ? {} : value;
  });
  return asciiJson(values);
}

/** Headers hold plain characters only. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function withoutSystem(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(item).filter(([name]) => !SYSTEM.some((known) => known === name)),
  );
}

function print(item: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(withoutSystem(item), null, 2);
}

export function ItemEditor(props: EditorProps) {
  const { db, container, partitionKey, item } = props;
  const [loaded, setLoaded] = useState<Item>();
  const [text, setText] = useState(props.text ?? '');
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<Item>();
  const path = ['dbs', db, 'colls', container, 'docs'];
  const read = async (): Promise<Item | undefined> => {
    if (item === undefined) return undefined;
    const headers =
      partitionKey.length === 0
        ? {}
        : { 'x-ms-documentdb-partitionkey': keyHeader(item, partitionKey) };
    return parseExact((await nosql([...path, item.id], { headers })).text) as Item;
  };
  useEffect(() => {
    read().then((found) => {
      setLoaded(found);
      if (found !== undefined) setText(print(found));
    }, setError);
  }, []);
  const save = async (): Promise<void> => {
    setError(undefined);
    try {
      await saveItem({ path, partitionKey, before: loaded, text, etag: (theirs ?? loaded)?._etag });
      props.onChanged();
      closeDialog();
    } catch (refusal) {
      if (refusal instanceof ApiError && refusal.status === 412) setTheirs(await read());
      else setError(refusal);
    }
  };
  const remove = async (): Promise<void> => {
    if (loaded === undefined) return;
    try {
      await deleteItem(path, partitionKey, loaded);
      props.onChanged();
      closeDialog();
    } catch (refusal) {
      setError(refusal);
    }
  };
  const title = item === undefined ? 'New item' : `Item ${short(item.id, 60)}`;
  if (theirs !== undefined && loaded !== undefined)
    return (
      <Conflict
        loaded={print(loaded)}
        theirs={print(theirs)}
        mine={text}
        onTakeTheirs={() => {
          setLoaded(theirs);
          setText(print(theirs));
          setTheirs(undefined);
        }}
        onSave={(merged) => {
          setText(merged);
          setLoaded(theirs);
          setTheirs(undefined);
          saveItem({ path, partitionKey, before: theirs, text: merged, etag: theirs._etag }).then(
            () => {
              props.onChanged();
              closeDialog();
            },
            setError,
          );
        }}
      />
    );
  return (
    <Dialog title={title} isWide>
      {item !== undefined && loaded === undefined && error === undefined && (
        <Loading what="the item" />
      )}
      {(item === undefined || loaded !== undefined) && (
        <Editor
          language="json"
          label={title}
          value={text}
          isReadOnly={isReadOnly.value}
          onChange={setText}
          onSave={() => void save()}
        />
      )}
      <Precision item={loaded} />
      {loaded !== undefined && <SystemProperties item={loaded} />}
      {error !== undefined && <Failure error={error} />}
      <footer>
        {readOnlyReason.value !== undefined && <span class="muted">{readOnlyReason.value}</span>}
        {item !== undefined && (
          <WriteButton class="danger" onClick={() => void remove()}>
            Delete
          </WriteButton>
        )}
        <button type="button" onClick={closeDialog}>
          Cancel
        </button>
        <WriteButton class="primary" onClick={() => void save()}>
          Save
        </WriteButton>
      </footer>
    </Dialog>
  );
}

function SystemProperties({ item }: { readonly item: Item }) {
  return (
    <p class="muted system">
      {SYSTEM.filter((name) => item[name] !== undefined).map((name) => (
        <span key={name}>
          <code>{name}</code> {short(String(item[name]), 60)}
        </span>
      ))}
    </p>
  );
}

/** Numbers that JavaScript cannot hold are kept as they are, and named, for other programs may not. */
function Precision({ item }: { readonly item: Item | undefined }) {
  const raw = Object.entries(item ?? {}).filter(([, value]) => isRaw(value));
  if (raw.length === 0) return null;
  return (
    <p class="warning">
      Beyond 2^53, kept digit by digit: {raw.map(([name]) => short(name, 40)).join(', ')}. Programs
      that read them as doubles round them.
    </p>
  );
}

interface Saving {
  readonly path: readonly string[];
  readonly partitionKey: readonly string[];
  readonly before: Item | undefined;
  readonly text: string;
  readonly etag: unknown;
}

/** A changed key or id is another item: it is made first, then the old one is deleted, so that nothing is lost between. */
async function saveItem({ path, partitionKey, before, text, etag }: Saving): Promise<void> {
  const body = text;
  const item = parseItem(text);
  const headers = (of: Readonly<Record<string, unknown>>): Record<string, string> =>
    partitionKey.length === 0
      ? {}
      : { 'x-ms-documentdb-partitionkey': keyHeader(of, partitionKey) };
  if (before === undefined) {
    await nosql(path, { method: 'POST', headers: headers(item), body });
    return;
  }
  const isSame =
    item.id === before.id && keyHeader(item, partitionKey) === keyHeader(before, partitionKey);
  if (isSame) {
    await nosql([...path, before.id], {
      method: 'PUT',
      headers: { ...headers(item), 'if-match': String(etag) },
      body,
    });
    return;
  }
  await nosql(path, { method: 'POST', headers: headers(item), body });
  await nosql([...path, before.id], {
    method: 'DELETE',
    headers: { ...headers(before), 'if-match': String(etag) },
  });
}

function parseItem(text: string): Item {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    throw new ApiError(400, 'NotJson', error instanceof Error ? error.message : 'This is no JSON.');
  }
  if (typeof value !== 'object' || value === null || typeof (value as Item).id !== 'string')
    throw new ApiError(400, 'NoItem', 'An item is an object with an id that is a text.');
  return value as Item;
}

export async function deleteItem(
  path: readonly string[],
  partitionKey: readonly string[],
  item: Item,
): Promise<void> {
  const key =
    partitionKey.length === 0
      ? {}
      : { 'x-ms-documentdb-partitionkey': keyHeader(item, partitionKey) };
  await nosql([...path, item.id], {
    method: 'DELETE',
    headers: { ...key, 'if-match': String(item._etag) },
  });
}
