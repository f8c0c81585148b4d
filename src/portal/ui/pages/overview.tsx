/** The account at a glance. */
import { LoadSample } from '../forms/load-sample.tsx';
import { NewContainer } from '../forms/new-container.tsx';
import { NewDatabase } from '../forms/new-database.tsx';
import { overview } from '../lib/account.ts';
import { apiName, bytes, count, keyText, percent, short, units } from '../lib/format.ts';
import { containerPath, databasePath } from '../lib/router.ts';
import type { ContainerOverview, Overview } from '../lib/types.ts';
import { CopyButton } from '../parts/copy.tsx';
import { showDialog } from '../parts/dialogs.tsx';
import { WriteButton } from '../parts/shell.tsx';
import { Bar, Sparkline } from '../parts/sparkline.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { startTour } from '../parts/tour.tsx';

export function OverviewPage() {
  const state = overview.value;
  if (state === undefined) return <Loading what="the overview" />;
  return (
    <>
      <header class="title">
        <h1>Overview</h1>
        <span class="grow" />
        {state.containers.some(({ db, container }) => db === 'shop' && container === 'orders') && (
          <button type="button" onClick={startTour}>
            Tour
          </button>
        )}
        <WriteButton onClick={() => showDialog(<NewDatabase />)}>New database</WriteButton>
        <WriteButton class="primary" onClick={() => showDialog(<NewContainer />)}>
          New container
        </WriteButton>
      </header>
      <Totals {...state} />
      <Alerts containers={state.containers} />
      {state.containers.length === 0 ? (
        <FirstSteps />
      ) : (
        <Containers containers={state.containers} />
      )}
      <Apis {...state} />
    </>
  );
}

function Totals({ totals, containers }: Overview) {
  const provisioned = containers.reduce((sum, { throughput }) => sum + (throughput ?? 0), 0);
  return (
    <dl class="facts">
      <Fact
        name="request units, last second"
        value={`${units(totals.ruPerSec)} RU/s`}
        note={`${count(provisioned)} provisioned`}
      />
      <Fact
        name="refused, last minute"
        value={percent(totals.throttledPercent)}
        note="of requests, with 429"
      />
      <Fact name="stored" value={bytes(totals.bytes)} note="in open partitions" />
      <Fact
        name="partitions"
        value={count(totals.partitions)}
        note={`of ${count(containers.length)} containers`}
      />
    </dl>
  );
}

export function Fact({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      {note !== undefined && <dd class="note">{note}</dd>}
    </div>
  );
}

const ALERTS_MAX = 3;

function Alerts({ containers }: Pick<Overview, 'containers'>) {
  const alerts = containers
    .flatMap(({ db, container, alerts: own }) => own.map((alert) => ({ db, container, ...alert })))
    .slice(0, ALERTS_MAX);
  return (
    <>
      {alerts.map(({ db, container, message, key, partition }) => (
        <p class="alert" key={`${db}/${container}/${partition}`}>
          <strong>
            {short(db, 40)}/{short(container, 40)}
          </strong>
          : {key === undefined ? '' : `key ${keyText(key)}. `}
          {message} <a href={containerPath(db, container)}>Look at it</a>
        </p>
      ))}
    </>
  );
}

function FirstSteps() {
  return (
    <Empty title="Nothing is stored yet">
      <p>
        A container holds items and divides them among partitions by a key. The sample makes one
        with three partitions, 10,000 orders and one customer who takes far too much: enough to see
        what this portal shows.
      </p>
      <p class="row">
        <WriteButton class="primary" onClick={() => showDialog(<LoadSample />)}>
          Load sample data
        </WriteButton>
        <WriteButton onClick={() => showDialog(<NewContainer />)}>New container</WriteButton>
      </p>
      <p class="muted">Or on the command line:</p>
      <p class="row">
        <code>
          npx mesocosm container create shop/orders --partition-key /customer --throughput 25000
        </code>
        <CopyButton text="npx mesocosm container create shop/orders --partition-key /customer --throughput 25000" />
      </p>
    </Empty>
  );
}

function Containers({ containers }: Pick<Overview, 'containers'>) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Containers">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Container</th>
            <th scope="col">API</th>
            <th scope="col">Key</th>
            <th scope="col" class="number">
              Partitions
            </th>
            <th scope="col" class="number">
              Items
            </th>
            <th scope="col" class="number">
              Bytes
            </th>
            <th scope="col" class="number">
              RU/s
            </th>
            <th scope="col">Last minute</th>
            <th scope="col">Hottest partition</th>
            <th scope="col">Largest key</th>
          </tr>
        </thead>
        <tbody>
          {containers.map((container) => (
            <ContainerRow key={`${container.db}/${container.container}`} {...container} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ContainerRow(row: ContainerOverview) {
  const { db, container, api, partitionKey, throughput, hottest, throttledLastMinute } = row;
  return (
    <tr>
      <th scope="row">
        <a href={databasePath(db)}>{short(db, 40)}</a> /{' '}
        <a href={containerPath(db, container)}>{short(container, 60)}</a>
      </th>
      <td>{apiName(api)}</td>
      <td>
        <code>{short(partitionKey.join(', ') || 'none', 40)}</code>
      </td>
      <td class="number">{count(row.partitions)}</td>
      <td class="number">{row.items === null ? '–' : count(row.items)}</td>
      <td class="number">{bytes(row.bytes)}</td>
      <td class="number">
        {units(row.ruPerSec)}{' '}
        <span class="muted">of {throughput === null ? 'shared' : count(throughput)}</span>
      </td>
      <td>
        <Sparkline
          values={row.lastMinute}
          label={`RU/s of the last minute, at most ${units(Math.max(...row.lastMinute))}`}
        />
      </td>
      <td>
        {hottest === null ? (
          <span class="muted">idle</span>
        ) : (
          <>
            <Bar
              share={hottest.percent / 100}
              isHot={throttledLastMinute > 0}
              label={`partition ${hottest.partition}`}
            />{' '}
            {percent(hottest.percent)} <span class="muted">of partition {hottest.partition}</span>
            {throttledLastMinute > 0 && (
              <span class="refused"> {count(throttledLastMinute)} refused</span>
            )}
          </>
        )}
      </td>
      <td>
        {row.largestKey === null ? (
          <span class="muted">far from the limit</span>
        ) : (
          <>
            <code>{keyText(row.largestKey.key)}</code>{' '}
            <span class="muted">
              {bytes(row.largestKey.bytes)}, {percent(row.largestKey.percent)} of its limit
            </span>
          </>
        )}
      </td>
    </tr>
  );
}

function Apis({ apis }: Overview) {
  return (
    <section class="card">
      <h2>APIs</h2>
      <table class="plain">
        <tbody>
          {apis.map(({ api, endpoint, state }) => (
            <tr key={api}>
              <th scope="row">{apiName(api)}</th>
              <td>
                {endpoint === null ? <span class="muted">{state}</span> : <code>{endpoint}</code>}
              </td>
              <td>{endpoint !== null && <CopyButton text={endpoint} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted">
        Keys, connection strings and programs to paste are under <a href="/keys">Keys</a>.
      </p>
    </section>
  );
}
