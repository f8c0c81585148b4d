/** Stored procedures, triggers and functions: edited, run, with their log and their cost. */
import { useEffect, useState } from 'preact/hooks';
import { nosql } from '../lib/api.ts';
import { short } from '../lib/format.ts';
import { useLoaded } from '../lib/loaded.ts';
import { keyValues } from '../lib/run.ts';
import { isReadOnly } from '../lib/session.ts';
import { Editor } from '../parts/editor.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Await, Failure } from '../parts/states.tsx';

const KINDS = [
  ['sprocs', 'StoredProcedures', 'Procedures'],
  ['triggers', 'Triggers', 'Triggers'],
  ['udfs', 'UserDefinedFunctions', 'Functions'],
] as const;
type Kind = (typeof KINDS)[number][0];

interface Script {
  readonly id: string;
  readonly body: string;
  readonly triggerType?: string;
  readonly triggerOperation?: string;
}

const FIRST: Readonly<Record<Kind, string>> = {
  sprocs: 'function hello(name) {\n  getContext().getResponse().setBody("hello " + name);\n}\n',
  triggers:
    'function stamp() {\n  const request = getContext().getRequest();\n  const item = request.getBody();\n  item.stamped = true;\n  request.setBody(item);\n}\n',
  udfs: 'function double(value) {\n  return value * 2;\n}\n',
};

interface ScriptsProps {
  readonly db: string;
  readonly container: string;
  readonly partitionKey: readonly string[];
}

/** What a kind of script is, while there is none. */
const ABOUT: Readonly<Record<Kind, string>> = {
  sprocs:
    'None yet. A procedure is JavaScript that reads and writes items of one key, all or none.',
  triggers: 'None yet. A trigger is JavaScript that runs before or after a write that names it.',
  udfs: 'None yet. A function is JavaScript that queries call: SELECT udf.name(c.total) FROM c.',
};

export function ScriptsPage({ db, container }: ScriptsProps) {
  const [kind, setKind] = useState<Kind>('sprocs');
  const [, list] = KINDS.find(([name]) => name === kind) ?? KINDS[0];
  const path = ['dbs', db, 'colls', container, kind];
  const scripts = useLoaded(
    async () => JSON.parse((await nosql(path)).text)[list] as readonly Script[],
    [db, container, kind],
  );
  const [chosen, setChosen] = useState<Script>();
  useEffect(() => setChosen(undefined), [kind]);
  return (
    <>
      <p class="row">
        <span class="choice" role="group" aria-label="Kind">
          {KINDS.map(([name, , title]) => (
            <button
              key={name}
              type="button"
              aria-pressed={kind === name}
              onClick={() => setKind(name)}
            >
              {title}
            </button>
          ))}
        </span>
        <WriteButton onClick={() => setChosen({ id: '', body: FIRST[kind] })}>New</WriteButton>
      </p>
      <div class="split narrow-left">
        <Await loaded={scripts} what="scripts">
          {(known) => (
            <ul class="choices">
              {known.map((script) => (
                <li key={script.id}>
                  <button
                    type="button"
                    class={script.id === chosen?.id ? 'chosen' : 'quiet'}
                    onClick={() => setChosen(script)}
                  >
                    {short(script.id, 60)}
                  </button>
                </li>
              ))}
              {known.length === 0 && <li class="muted">{ABOUT[kind]}</li>}
            </ul>
          )}
        </Await>
        {chosen !== undefined && (
          <ScriptForm
            key={`${kind}/${chosen.id}`}
            path={path}
            kind={kind}
            script={chosen}
            onChanged={scripts.reload}
          />
        )}
      </div>
    </>
  );
}

interface FormProps {
  readonly path: readonly string[];
  readonly kind: Kind;
  readonly script: Script;
  readonly onChanged: () => void;
}

function ScriptForm({ path, kind, script, onChanged }: FormProps) {
  const [id, setId] = useState(script.id);
  const [body, setBody] = useState(script.body);
  const [type, setType] = useState(script.triggerType ?? 'Pre');
  const [error, setError] = useState<unknown>();
  const isNew = script.id === '';
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    setError(undefined);
    try {
      await work();
      onChanged();
    } catch (refusal) {
      setError(refusal);
    }
  };
  const trigger =
    kind === 'triggers'
      ? { triggerType: type, triggerOperation: script.triggerOperation ?? 'All' }
      : {};
  const save = (): Promise<void> =>
    attempt(() =>
      nosql(isNew ? path : [...path, script.id], {
        method: isNew ? 'POST' : 'PUT',
        body: JSON.stringify({ id, body, ...trigger }),
      }),
    );
  return (
    <section>
      <div class="row">
        <input
          type="text"
          aria-label="Name"
          placeholder="name"
          value={id}
          disabled={!isNew}
          onInput={(event) => setId(event.currentTarget.value)}
        />
        {kind === 'triggers' && (
          <select
            aria-label="When"
            value={type}
            onChange={(event) => setType(event.currentTarget.value)}
          >
            <option value="Pre">before the write</option>
            <option value="Post">after the write</option>
          </select>
        )}
        <WriteButton class="primary" disabled={id === ''} onClick={() => void save()}>
          Save
        </WriteButton>
        {!isNew && (
          <WriteButton
            class="danger"
            onClick={() => void attempt(() => nosql([...path, script.id], { method: 'DELETE' }))}
          >
            Delete
          </WriteButton>
        )}
      </div>
      <Editor
        language="javascript"
        label="Script"
        value={body}
        isReadOnly={isReadOnly.value}
        onChange={setBody}
        onSave={() => void save()}
      />
      {error !== undefined && <Failure error={error} />}
      {kind === 'sprocs' && !isNew && <RunProcedure path={[...path, script.id]} />}
    </section>
  );
}

function RunProcedure({ path }: { readonly path: readonly string[] }) {
  const [key, setKey] = useState('');
  const [given, setGiven] = useState('[]');
  const [output, setOutput] = useState<{
    readonly text: string;
    readonly log: string;
    readonly charge: string;
  }>();
  const [error, setError] = useState<unknown>();
  const run = async (): Promise<void> => {
    setError(undefined);
    setOutput(undefined);
    try {
      const reply = await nosql(path, {
        method: 'POST',
        headers: {
          'x-ms-documentdb-partitionkey': JSON.stringify(keyValues(key) ?? [{}]),
          'x-ms-documentdb-script-enable-logging': 'true',
        },
        body: given,
      });
      setOutput({
        text: reply.text,
        log: decodeURIComponent(reply.headers.get('x-ms-documentdb-script-log-results') ?? ''),
        charge: reply.headers.get('x-ms-request-charge') ?? '',
      });
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <section class="card">
      <h2>Run</h2>
      <div class="row">
        <input
          type="text"
          aria-label="Partition key"
          placeholder="key"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <input
          type="text"
          class="grow"
          aria-label="Arguments as a JSON list"
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
        <WriteButton onClick={() => void run()}>Run</WriteButton>
      </div>
      {error !== undefined && <Failure error={error} />}
      {output !== undefined && (
        <>
          <p class="muted">{output.charge} RU</p>
          <pre tabIndex={0}>{output.text.slice(0, 100_000)}</pre>
          {output.log !== '' && (
            <>
              <h3>Log</h3>
              <pre tabIndex={0}>{output.log.slice(0, 100_000)}</pre>
            </>
          )}
        </>
      )}
    </section>
  );
}
