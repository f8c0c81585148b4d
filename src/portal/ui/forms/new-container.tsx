/** A new container of any API: its key decides everything later, so its partitions are shown before it exists. */
import { useState } from 'preact/hooks';
import { overview, refreshAccount } from '../lib/account.ts';
import { apiName } from '../lib/format.ts';
import { containerPath, navigate } from '../lib/router.ts';
import type { ApiId } from '../lib/types.ts';
import { CONTAINER_KINDS, containerKind, type Mode } from './container-kinds.ts';
import { FormDialog, TextField } from './form.tsx';
import { PlanPreview, usePlan } from './plan-preview.tsx';

export function NewContainer({ db: given }: { readonly db?: string }) {
  const databases = overview.value?.databases ?? [];
  const [api, setApi] = useState<ApiId>('nosql');
  const [chosenDb, setDb] = useState(given ?? databases[0]?.id ?? 'shop');
  const [id, setId] = useState('');
  const [levels, setLevels] = useState(['/']);
  const [mode, setMode] = useState<Mode>('manual');
  const [throughput, setThroughput] = useState('1000');
  const kind = containerKind(api);
  const db = kind.db ?? chosenDb;
  const wanted = Number(throughput) || 0;
  const key = levels.slice(0, kind.levelsMax).filter((path) => path.replace(/^\//, '') !== '');
  const planned = kind.keyLabel === undefined ? ['/PartitionKey'] : key;
  const plan = usePlan(
    mode === 'autoscale'
      ? { autoscaleMax: wanted, key: planned }
      : { throughput: wanted, key: planned },
  );
  const create = async (): Promise<void> => {
    const isNewDatabase = !databases.some((known) => known.id === db);
    await kind.create({ db, id, key, mode, throughput: wanted, isNewDatabase });
    await refreshAccount();
    navigate(containerPath(db, id));
  };
  return (
    <FormDialog
      title="New container"
      action="Create"
      isComplete={id !== '' && db !== '' && (api !== 'cassandra' || key.length > 0)}
      isWide
      onSubmit={create}
    >
      <div class="columns">
        <div class="field">
          <label>
            <span>API</span>
            <select
              aria-label="API"
              value={api}
              onChange={(event) => setApi(event.currentTarget.value as ApiId)}
            >
              {CONTAINER_KINDS.map((known) => (
                <option key={known.api} value={known.api}>
                  {apiName(known.api)} ({known.name})
                </option>
              ))}
            </select>
          </label>
        </div>
        <TextField
          label="Database"
          value={db}
          onValue={setDb}
          list="databases"
          disabled={kind.db !== undefined}
        />
        <datalist id="databases">
          {databases.map((known) => (
            <option key={known.id} value={known.id} />
          ))}
        </datalist>
        <TextField label="Name" value={id} onValue={setId} placeholder="orders" />
      </div>
      <fieldset>
        <legend>Partition key</legend>
        {kind.keyLabel !== undefined && (
          <KeyFields
            label={kind.keyLabel}
            example={kind.keyExample}
            levels={levels.slice(0, kind.levelsMax)}
            levelsMax={kind.levelsMax}
            onLevels={setLevels}
          />
        )}
        <p class="muted">{kind.hint}</p>
      </fieldset>
      <Throughput mode={mode} onMode={setMode} value={throughput} onValue={setThroughput} />
      {plan !== undefined && mode !== 'shared' && <PlanPreview plan={plan} wanted={wanted} />}
    </FormDialog>
  );
}

interface KeyFieldsProps {
  readonly label: string;
  readonly example: string;
  readonly levels: readonly string[];
  readonly levelsMax: number;
  readonly onLevels: (levels: string[]) => void;
}

function KeyFields({ label, example, levels, levelsMax, onLevels }: KeyFieldsProps) {
  return (
    <div class="columns">
      {levels.map((path, at) => (
        <TextField
          key={at}
          label={levels.length === 1 ? label : `Level ${at + 1}`}
          value={path}
          placeholder={example}
          onValue={(value) =>
            onLevels(levels.map((other, index) => (index === at ? value : other)))
          }
        />
      ))}
      {levels.length < levelsMax && (
        <button type="button" class="quiet" onClick={() => onLevels([...levels, '/'])}>
          + level
        </button>
      )}
    </div>
  );
}

interface ThroughputProps {
  readonly mode: Mode;
  readonly onMode: (mode: Mode) => void;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const MODES: readonly (readonly [Mode, string])[] = [
  ['manual', 'manual'],
  ['autoscale', 'autoscale, at most'],
  ['shared', "the database's"],
];

function Throughput({ mode, onMode, value, onValue }: ThroughputProps) {
  return (
    <fieldset>
      <legend>Throughput</legend>
      <div class="columns">
        {MODES.map(([name, label]) => (
          <label class="check" key={name}>
            <input type="radio" name="mode" checked={mode === name} onChange={() => onMode(name)} />{' '}
            {label}
          </label>
        ))}
        {mode !== 'shared' && (
          <TextField
            label="RU/s"
            type="number"
            value={value}
            onValue={onValue}
            min={400}
            step={100}
          />
        )}
      </div>
    </fieldset>
  );
}
