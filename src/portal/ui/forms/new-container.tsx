/** A new container: its key decides everything later, so its partitions are shown before it exists. */
import { useState } from 'preact/hooks';
import { overview, refreshAccount } from '../lib/account.ts';
import { ApiError, nosql } from '../lib/api.ts';
import { containerPath, navigate } from '../lib/router.ts';
import { FormDialog, TextField } from './form.tsx';
import { PlanPreview, usePlan } from './plan-preview.tsx';

type Mode = 'manual' | 'autoscale' | 'shared';

export function NewContainer({ db: given }: { readonly db?: string }) {
  const databases = overview.value?.databases ?? [];
  const [db, setDb] = useState(given ?? databases[0]?.id ?? 'shop');
  const [id, setId] = useState('');
  const [levels, setLevels] = useState(['/']);
  const [mode, setMode] = useState<Mode>('manual');
  const [throughput, setThroughput] = useState('1000');
  const wanted = Number(throughput) || 0;
  const key = levels.filter((path) => path.length > 1);
  const plan = usePlan(
    mode === 'autoscale' ? { autoscaleMax: wanted, key } : { throughput: wanted, key },
  );
  const create = async (): Promise<void> => {
    if (!databases.some((known) => known.id === db)) await makeDatabase(db);
    await nosql(['dbs', db, 'colls'], {
      method: 'POST',
      headers: offerHeaders(mode, throughput),
      body: JSON.stringify({ id, ...(key.length > 0 && { partitionKey: keyDefinition(key) }) }),
    });
    await refreshAccount();
    navigate(containerPath(db, id));
  };
  return (
    <FormDialog
      title="New container"
      action="Create"
      isComplete={id !== '' && db !== ''}
      isWide
      onSubmit={create}
    >
      <div class="columns">
        <TextField
          label="Database"
          value={db}
          onValue={setDb}
          list="databases"
          hint="made where it does not exist"
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
        <div class="columns">
          {levels.map((path, at) => (
            <TextField
              key={at}
              label={levels.length === 1 ? 'Path' : `Level ${at + 1}`}
              value={path}
              placeholder="/customer"
              onValue={(value) =>
                setLevels(levels.map((other, index) => (index === at ? value : other)))
              }
            />
          ))}
          {levels.length < 3 && (
            <button type="button" class="quiet" onClick={() => setLevels([...levels, '/'])}>
              + level
            </button>
          )}
        </div>
        <p class="muted">
          Many values, evenly used, and named by your common queries. It cannot be changed later.
        </p>
      </fieldset>
      <Throughput mode={mode} onMode={setMode} value={throughput} onValue={setThroughput} />
      {plan !== undefined && mode !== 'shared' && <PlanPreview plan={plan} wanted={wanted} />}
      <p class="muted">
        Tables, collections and column families are made in their own languages: see{' '}
        <a href="/keys">Keys</a> for how to connect.
      </p>
    </FormDialog>
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

async function makeDatabase(id: string): Promise<void> {
  try {
    await nosql(['dbs'], { method: 'POST', body: JSON.stringify({ id }) });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}

function offerHeaders(mode: Mode, throughput: string): Readonly<Record<string, string>> {
  if (mode === 'manual') return { 'x-ms-offer-throughput': throughput };
  if (mode === 'shared') return {};
  return {
    'x-ms-cosmos-offer-autopilot-settings': JSON.stringify({ maxThroughput: Number(throughput) }),
  };
}

function keyDefinition(paths: readonly string[]): object {
  return { paths, kind: paths.length > 1 ? 'MultiHash' : 'Hash', version: 2 };
}
