/** Queries that were run here, and those that were saved for all. */
import { useEffect, useState } from 'preact/hooks';
import { ask, send } from '../../lib/api.ts';
import { short } from '../../lib/format.ts';
import type { ApiId, SavedQuery } from '../../lib/types.ts';
import { WriteButton } from '../../parts/shell.tsx';

const HISTORY_MAX = 200;

function historyName(db: string, container: string, api: ApiId): string {
  return `history ${JSON.stringify([db, container, api])}`;
}

function historyOf(db: string, container: string, api: ApiId): readonly string[] {
  try {
    const stored = JSON.parse(localStorage.getItem(historyName(db, container, api)) ?? '[]');
    return Array.isArray(stored) ? stored.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}

/** Newest first, each text once. */
export function remember(db: string, container: string, api: ApiId, text: string): void {
  const others = historyOf(db, container, api).filter((known) => known !== text);
  try {
    localStorage.setItem(
      historyName(db, container, api),
      JSON.stringify([text, ...others].slice(0, HISTORY_MAX)),
    );
  } catch {
    // The storage of the browser is full: the history is not worth an error.
  }
}

interface MemoryProps {
  readonly db: string;
  readonly container: string;
  readonly api: ApiId;
  readonly text: string;
  readonly onText: (text: string) => void;
}

export function QueryMemory({ db, container, api, text, onText }: MemoryProps) {
  const [saved, setSaved] = useState<readonly SavedQuery[]>([]);
  const load = (): void => {
    ask<{ saved: readonly SavedQuery[] }>('saved', { db, container }).then(
      (reply) => setSaved(reply.saved.filter((query) => query.api === api)),
      () => setSaved([]),
    );
  };
  useEffect(load, [db, container, api]);
  const history = historyOf(db, container, api);
  const save = async (): Promise<void> => {
    const name = short(text.trim().split('\n')[0] ?? 'query', 80);
    const id = `q${Date.now().toString(36)}`;
    await send(`/portal/api/saved/${id}`, {
      method: 'PUT',
      body: JSON.stringify({ name, api, db, container, text }),
    });
    load();
  };
  const forget = async (id: string): Promise<void> => {
    await send(`/portal/api/saved/${id}`, { method: 'DELETE' });
    load();
  };
  const own = saved.find((query) => query.text === text);
  return (
    <>
      <select
        aria-label="History and saved queries"
        value=""
        onChange={(event) => onText(event.currentTarget.value)}
      >
        <option value="">History…</option>
        {saved.length > 0 && (
          <optgroup label="Saved for all">
            {saved.map(({ id, name, text: query }) => (
              <option key={id} value={query}>
                {short(name, 80)}
              </option>
            ))}
          </optgroup>
        )}
        <optgroup label="Run here">
          {history.map((query) => (
            <option key={query} value={query}>
              {short(query.replaceAll('\n', ' '), 80)}
            </option>
          ))}
        </optgroup>
      </select>
      {own === undefined ? (
        <WriteButton onClick={() => void save()}>Save</WriteButton>
      ) : (
        <WriteButton onClick={() => void forget(own.id)}>Forget</WriteButton>
      )}
    </>
  );
}
