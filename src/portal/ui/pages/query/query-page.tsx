/** Queries in the language of the container's API, or in SQL over all of them: rows, costs, and why. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from '../../lib/api.ts';
import { apiName, count, units } from '../../lib/format.ts';
import { keyValues, type Running, run } from '../../lib/run.ts';
import type { ApiId, ContainerOverview, RunResult } from '../../lib/types.ts';
import { Editor } from '../../parts/editor.tsx';
import { Failure } from '../../parts/states.tsx';
import { ExplainPanel } from './explain.tsx';
import { LANGUAGES } from './languages.ts';
import { QueryMemory, remember } from './query-memory.tsx';
import { Results } from './results.tsx';
import { RunFailure } from './run-failure.tsx';

const PAGE = 100;

type Row = Pick<ContainerOverview, 'db' | 'container' | 'api' | 'partitionKey'>;

export function QueryPage({ row }: { readonly row: Row }) {
  const { db, container } = row;
  const [api, setApi] = useState<ApiId>(row.api);
  const language = LANGUAGES[api];
  const [text, setText] = useState(language.first(container));
  const [key, setKey] = useState('');
  const [words, setWords] = useState<readonly string[]>(language.words);
  const query = useQuery();
  useEffect(() => {
    ask<{ paths: readonly { path: string }[] }>('schema', { db, container }).then(
      ({ paths }) => setWords([...language.words, ...paths.map(({ path }) => language.path(path))]),
      () => setWords(language.words),
    );
  }, [db, container, api]);
  const values = keyValues(key);
  const request = {
    api,
    db,
    container,
    text,
    limit: PAGE,
    explain: true,
    ...(api === 'nosql' && values !== undefined && { key: values }),
  };
  const start = (): void => {
    remember(db, container, api, text);
    query.start(request);
  };
  const change = (to: ApiId): void => {
    setApi(to);
    setText(LANGUAGES[to].first(container));
  };
  const { result } = query;
  return (
    <div
      onKeyDown={(event) => {
        if (event.key === 'Escape') query.cancel();
      }}
    >
      <div class="row">
        <select
          aria-label="Language"
          value={api}
          onChange={(event) => change(event.currentTarget.value as ApiId)}
        >
          {[
            ...new Set<ApiId>([
              row.api,
              'nosql',
              ...(row.api === 'nosql' ? ['gremlin' as const] : []),
            ]),
          ].map((name) => (
            <option key={name} value={name}>
              {LANGUAGES[name].name} ({apiName(name)})
            </option>
          ))}
        </select>
        {api === 'nosql' && (
          <input
            type="text"
            class="key"
            aria-label="Partition key"
            placeholder="key: any"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        )}
        <button type="button" class="primary" disabled={query.isRunning} onClick={start}>
          Run <kbd>Ctrl Enter</kbd>
        </button>
        <button type="button" disabled={!query.isRunning} onClick={query.cancel}>
          Cancel <kbd>Esc</kbd>
        </button>
        <span class="grow" />
        <QueryMemory db={db} container={container} api={api} text={text} onText={setText} />
      </div>
      <Editor
        language={language.mode}
        label="Query"
        value={text}
        words={words}
        onChange={setText}
        onRun={start}
      />
      <p class="row muted" role="status">
        {query.isRunning && 'Running…'}
        {!query.isRunning && result !== undefined && (
          <>
            <strong>{units(result.charge ?? 0)} RU</strong> · {units(result.ms)} ms ·{' '}
            {result.partitions ?? 0} partition
            {result.partitions === 1 ? '' : 's'} · {count(query.rows.length)} rows
            {result.continuation ? '+' : ''}
            {result.retries > 0 && ` · ${result.retries} retries after 429`}
          </>
        )}
        {result?.warnings?.map((warning) => (
          <span key={warning}>{warning}</span>
        ))}
      </p>
      {query.failure !== undefined && <Failure error={query.failure} onRetry={start} />}
      {result?.error !== undefined && <RunFailure error={result.error} />}
      {result !== undefined && result.error === undefined && (
        <div class="split">
          <Results
            rows={query.rows}
            result={result}
            api={api}
            container={container}
            onMore={() => query.more(request)}
            onExpand={(traversal) => query.append({ ...request, text: traversal })}
          />
          {result.explain !== undefined && (
            <ExplainPanel explain={result.explain} charge={result.charge} />
          )}
        </div>
      )}
    </div>
  );
}

interface Query {
  readonly result: RunResult | undefined;
  readonly rows: readonly unknown[];
  readonly failure: unknown;
  readonly isRunning: boolean;
  start(request: Parameters<typeof run>[0]): void;
  more(request: Parameters<typeof run>[0]): void;
  /** Adds the rows of another query, as when a graph is expanded. */
  append(request: Parameters<typeof run>[0]): void;
  cancel(): void;
}

function useQuery(): Query {
  const [state, setState] = useState<Pick<Query, 'result' | 'rows' | 'failure' | 'isRunning'>>({
    result: undefined,
    rows: [],
    failure: undefined,
    isRunning: false,
  });
  const running = useRef<Running | undefined>(undefined);
  const load = async (
    request: Parameters<typeof run>[0],
    before: readonly unknown[],
    kept?: RunResult,
  ): Promise<void> => {
    running.current?.cancel();
    const own = run(request);
    running.current = own;
    setState((known) => ({ ...known, isRunning: true, failure: undefined }));
    try {
      const result = await own.result;
      if (running.current !== own) return;
      const partitions = { ...kept?.vertexPartitions, ...result.vertexPartitions };
      setState({
        result:
          kept === undefined
            ? result
            : {
                ...result,
                ...(kept.explain && { explain: kept.explain }),
                vertexPartitions: partitions,
              },
        rows: [...before, ...(result.rows ?? [])],
        failure: undefined,
        isRunning: false,
      });
    } catch (failure) {
      if (running.current === own) setState((known) => ({ ...known, failure, isRunning: false }));
    }
  };
  return {
    ...state,
    start: (request) => void load(request, []),
    more: (request) =>
      void load(
        {
          ...request,
          ...(state.result?.continuation && { continuation: state.result.continuation }),
        },
        state.rows,
      ),
    append: (request) => void load(request, state.rows, state.result),
    cancel: () => state.isRunning && running.current?.cancel(),
  };
}
