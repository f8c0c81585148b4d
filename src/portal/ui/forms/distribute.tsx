/** Dividing the throughput of a container among its partitions: more for a hot one, less for the others. */
import { useState } from 'preact/hooks';
import { ask, send } from '../lib/api.ts';
import { count, percent, units } from '../lib/format.ts';
import { useLoaded } from '../lib/loaded.ts';
import type { Partition, PartitionsReport } from '../lib/types.ts';
import { Await } from '../parts/states.tsx';
import { FormDialog } from './form.tsx';

interface Props {
  readonly db: string;
  readonly container: string;
  readonly onDone: () => void;
}

const SHOWN_MAX = 200;

export function Distribute({ db, container, onDone }: Props) {
  const report = useLoaded(() => ask<PartitionsReport>('partitions', { db, container }), []);
  const [wanted, setWanted] = useState<Readonly<Record<string, string>>>({});
  const distribute = async (): Promise<void> => {
    const named = Object.entries(wanted).filter(([, text]) => text !== '');
    const partitions = Object.fromEntries(named.map(([id, text]) => [id, Number(text)]));
    const query = new URLSearchParams({ db, container });
    await send(`/portal/api/distribution?${query}`, {
      method: 'POST',
      body: JSON.stringify({ partitions }),
    });
    onDone();
  };
  return (
    <FormDialog title="Divide the throughput" action="Divide" isWide onSubmit={distribute}>
      <p>
        Give RU/s to the partitions that need more. Those left empty share the rest evenly; with all
        empty the division is even again. A hot key never gets more than its one partition.
      </p>
      <Await loaded={report} what="partitions">
        {({ partitions, throughput }) => (
          <>
            <Rest partitions={partitions} throughput={throughput ?? 0} wanted={wanted} />
            <div class="scroll tall" tabIndex={0} role="region" aria-label="Division">
              <table class="plain wide">
                <thead>
                  <tr>
                    <th scope="col">Partition</th>
                    <th scope="col" class="number">
                      Now
                    </th>
                    <th scope="col" class="number">
                      Busiest second
                    </th>
                    <th scope="col">RU/s</th>
                  </tr>
                </thead>
                <tbody>
                  {partitions.slice(0, SHOWN_MAX).map(({ id, provisioned, normalizedPercent }) => (
                    <tr key={id}>
                      <th scope="row">{id}</th>
                      <td class="number">{units(provisioned)}</td>
                      <td class="number">{percent(normalizedPercent)}</td>
                      <td>
                        <input
                          type="number"
                          min={1}
                          aria-label={`RU/s of partition ${id}`}
                          placeholder="even"
                          value={wanted[id] ?? ''}
                          onInput={(event) =>
                            setWanted({ ...wanted, [id]: event.currentTarget.value })
                          }
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Await>
    </FormDialog>
  );
}

/** What is left for the others, while one types. */
function Rest({
  partitions,
  throughput,
  wanted,
}: {
  readonly partitions: readonly Partition[];
  readonly throughput: number;
  readonly wanted: Readonly<Record<string, string>>;
}) {
  const given = Object.values(wanted).filter((text) => text !== '');
  const named = given.reduce((sum, text) => sum + (Number(text) || 0), 0);
  const others = partitions.length - given.length;
  const rest = throughput - named;
  return (
    <p class={rest < 0 ? 'warning' : 'muted'} aria-live="polite">
      {count(named)} of {count(throughput)} RU/s named
      {others > 0 && `; ${units(rest / others)} for each of the other ${count(others)}`}.
    </p>
  );
}
