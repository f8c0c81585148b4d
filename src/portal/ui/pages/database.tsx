/** One database: its throughput, its containers, and how they share it. */
import { DeleteResource } from '../forms/delete-resource.tsx';
import { NewContainer } from '../forms/new-container.tsx';
import { ScaleDialog } from '../forms/scale.tsx';
import { overview } from '../lib/account.ts';
import { apiName, bytes, count, short, units } from '../lib/format.ts';
import { containerPath } from '../lib/router.ts';
import { showDialog } from '../parts/dialogs.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Bar } from '../parts/sparkline.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { Fact } from './overview.tsx';

export function DatabasePage({ db }: { readonly db: string }) {
  const state = overview.value;
  if (state === undefined) return <Loading what="the database" />;
  const database = state.databases.find(({ id }) => id === db);
  if (database === undefined)
    return (
      <Empty isPage title="There is no such database">
        <p>
          It may have been deleted. <a href="/">To the overview</a>
        </p>
      </Empty>
    );
  const containers = state.containers.filter((container) => container.db === db);
  const used = containers.reduce((sum, { ruPerSec }) => sum + ruPerSec, 0);
  const stored = containers.reduce((sum, container) => sum + (container.bytes ?? 0), 0);
  const shared = containers.filter(({ throughput }) => throughput === null);
  return (
    <>
      <header class="title">
        <h1>{short(db, 80)}</h1>
        <span class="grow" />
        {database.throughput !== null && (
          <WriteButton onClick={() => showDialog(<ScaleDialog db={db} />)}>Scale…</WriteButton>
        )}
        <WriteButton class="danger" onClick={() => showDialog(<DeleteResource db={db} />)}>
          Delete…
        </WriteButton>
        <WriteButton class="primary" onClick={() => showDialog(<NewContainer db={db} />)}>
          New container
        </WriteButton>
      </header>
      <dl class="facts">
        <Fact
          name="shared throughput"
          value={database.throughput === null ? 'none' : `${count(database.throughput)} RU/s`}
          note={
            database.throughput === null
              ? 'each container has its own'
              : `shared by ${shared.length} containers`
          }
        />
        <Fact name="used, last second" value={`${units(used)} RU/s`} note="by all containers" />
        <Fact name="stored" value={bytes(stored)} note="in open partitions" />
        <Fact name="containers" value={count(containers.length)} />
      </dl>
      {containers.length === 0 ? (
        <Empty title="No containers yet">
          <p>A container holds items and divides them among partitions by a key.</p>
          <WriteButton class="primary" onClick={() => showDialog(<NewContainer db={db} />)}>
            New container
          </WriteButton>
        </Empty>
      ) : (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Container</th>
              <th scope="col">API</th>
              <th scope="col" class="number">
                Partitions
              </th>
              <th scope="col" class="number">
                Bytes
              </th>
              <th scope="col" class="number">
                RU/s
              </th>
              <th scope="col">Share of what is used</th>
            </tr>
          </thead>
          <tbody>
            {containers.map(({ container, api, partitions, bytes: size, ruPerSec, throughput }) => (
              <tr key={container}>
                <th scope="row">
                  <a href={containerPath(db, container)}>{short(container, 60)}</a>
                </th>
                <td>{apiName(api)}</td>
                <td class="number">{count(partitions)}</td>
                <td class="number">{bytes(size)}</td>
                <td class="number">
                  {units(ruPerSec)}{' '}
                  <span class="muted">
                    of {throughput === null ? 'the shared' : count(throughput)}
                  </span>
                </td>
                <td>
                  <Bar share={used === 0 ? 0 : ruPerSec / used} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
