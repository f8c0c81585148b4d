/** The definition of a container: its policies as JSON, with what a change would be before it is made. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, nosql, post } from '../lib/api.ts';
import { bytes, units } from '../lib/format.ts';
import { useInterval, useLoaded } from '../lib/loaded.ts';
import { isReadOnly } from '../lib/session.ts';
import type { WriteEstimate } from '../lib/types.ts';
import { Editor } from '../parts/editor.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Await, Failure } from '../parts/states.tsx';

type Definition = Readonly<Record<string, unknown>>;

interface SettingsProps {
  readonly db: string;
  readonly container: string;
}

/** Properties of the server, which nobody sends back. */
const SYSTEM = /^_/;
/** Fixed when the container is made. */
const FIXED: ReadonlySet<string> = new Set(['id', 'partitionKey', 'uniqueKeyPolicy']);

const PROGRESS_MS = 3000;

export function SettingsPage({ db, container }: SettingsProps) {
  const path = ['dbs', db, 'colls', container];
  const loaded = useLoaded(async () => readDefinition(path), [db, container]);
  return (
    <Await loaded={loaded} what="the settings">
      {({ definition, etag }) => (
        <SettingsForm
          key={etag}
          path={path}
          definition={definition}
          etag={etag}
          onSaved={loaded.reload}
        />
      )}
    </Await>
  );
}

async function readDefinition(
  path: readonly string[],
): Promise<{ readonly definition: Definition; readonly etag: string }> {
  const all = JSON.parse((await nosql(path)).text);
  const definition = Object.fromEntries(Object.entries(all).filter(([name]) => !SYSTEM.test(name)));
  return { definition, etag: all._etag };
}

interface FormProps {
  readonly path: readonly string[];
  readonly definition: Definition;
  readonly etag: string;
  readonly onSaved: () => void;
}

function SettingsForm({ path, definition, etag, onSaved }: FormProps) {
  const editable = Object.fromEntries(
    Object.entries(definition).filter(([name]) => !FIXED.has(name)),
  );
  const before = JSON.stringify(editable, null, 2);
  const [text, setText] = useState(before);
  const [error, setError] = useState<unknown>();
  const [isPreview, setPreview] = useState(false);
  const ttl = ttlOf(text);
  const save = async (): Promise<void> => {
    setError(undefined);
    try {
      const changed = parse(text);
      const fixed = Object.fromEntries(
        Object.entries(definition).filter(([name]) => FIXED.has(name)),
      );
      await nosql(path, {
        method: 'PUT',
        headers: { 'if-match': etag },
        body: JSON.stringify({ ...changed, ...fixed }),
      });
      onSaved();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <>
      <dl class="pairs">
        {Object.entries(definition)
          .filter(([name]) => FIXED.has(name))
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <code>{JSON.stringify(value).slice(0, 500)}</code>{' '}
                <span class="muted">fixed for life</span>
              </dd>
            </div>
          ))}
      </dl>
      <IndexProgress path={path} />
      <div class="row">
        <label>
          Items expire{' '}
          <select
            value={ttl === undefined ? 'off' : ttl === -1 ? 'own' : 'after'}
            onChange={(event) => setText(withTtl(text, event.currentTarget.value))}
          >
            <option value="off">never</option>
            <option value="own">if they say so (ttl)</option>
            <option value="after">after a time</option>
          </select>
        </label>
        {ttl !== undefined && ttl > 0 && (
          <label>
            seconds{' '}
            <input
              type="number"
              min={1}
              value={ttl}
              onInput={(event) => setText(withTtl(text, event.currentTarget.value))}
            />
          </label>
        )}
      </div>
      <Editor
        language="json"
        label="Policies of the container"
        value={text}
        isReadOnly={isReadOnly.value}
        onChange={setText}
        onSave={() => void save()}
      />
      <p class="row">
        <button
          type="button"
          disabled={text === before}
          aria-expanded={isPreview}
          onClick={() => setPreview(!isPreview)}
        >
          {isPreview ? 'Hide' : 'Show'} what would change
        </button>
        <WriteButton class="primary" disabled={text === before} onClick={() => void save()}>
          Save
        </WriteButton>
        <span class="muted">
          Indexes are rebuilt in the background; queries are right meanwhile, and slower.
        </span>
      </p>
      {isPreview && text !== before && (
        <>
          <WriteCost path={path} text={text} />
          <Difference before={before} after={text} />
        </>
      )}
      {error !== undefined && <Failure error={error} />}
    </>
  );
}

function parse(text: string): Definition {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError(400, 'NotJson', error instanceof Error ? error.message : 'This is no JSON.');
  }
}

function ttlOf(text: string): number | undefined {
  try {
    const { defaultTtl } = JSON.parse(text);
    return typeof defaultTtl === 'number' ? defaultTtl : undefined;
  } catch {
    return undefined;
  }
}

function withTtl(text: string, choice: string): string {
  try {
    const { defaultTtl: _, ...rest } = JSON.parse(text);
    if (choice === 'off') return JSON.stringify(rest, null, 2);
    const seconds = choice === 'own' ? -1 : choice === 'after' ? 86_400 : Number(choice) || 1;
    return JSON.stringify({ ...rest, defaultTtl: seconds }, null, 2);
  } catch {
    return text;
  }
}

function IndexProgress({ path }: { readonly path: readonly string[] }) {
  const progress = useLoaded(async () => {
    const reply = await nosql(path, { headers: { 'x-ms-documentdb-populatequotainfo': 'true' } });
    return Number(
      reply.headers.get('x-ms-documentdb-collection-index-transformation-progress') ?? 100,
    );
  }, [path.join('/')]);
  useInterval(progress.refresh, PROGRESS_MS);
  const percent = progress.value ?? 100;
  if (percent < 0 || percent >= 100) return null;
  return (
    <p role="status">
      Index is being built: <progress max={100} value={percent} aria-label="Index built" />{' '}
      {percent} %
    </p>
  );
}

/** What a write would cost, on the container's own items. */
function WriteCost({ path, text }: { readonly path: readonly string[]; readonly text: string }) {
  const [, db = '', , container = ''] = path;
  const estimate = useLoaded(
    () => post<WriteEstimate>('estimate', { db, container, definition: parse(text) }),
    [text],
  );
  return (
    <Await loaded={estimate} what="the cost">
      {({ items, bytes: size, before, after }) =>
        items === 0 ? (
          <p class="muted">There are no items yet on which a write could be estimated.</p>
        ) : (
          <p class="hint" data-write-cost>
            A write of one of {items} sampled items ({bytes(size)} on average):{' '}
            <strong>{units(before.requestUnits)} RU</strong> now with {units(before.indexEntries)}{' '}
            index entries, <strong>{units(after.requestUnits)} RU</strong> then with{' '}
            {units(after.indexEntries)}.
          </p>
        )
      }
    </Await>
  );
}

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let close: (() => void) | undefined;
    void import('../editor/merge-view.ts').then(({ openMerge }) => {
      if (frame.current !== null)
        close = openMerge({
          parent: frame.current,
          theirs: before,
          mine: after,
          onChange: () => undefined,
        }).close;
    });
    return () => close?.();
  }, [before, after]);
  return <div class="editor merge" ref={frame} />;
}
