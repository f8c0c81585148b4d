/** Logs in where that is needed, then shows the place that the path names. */
import { useEffect } from 'preact/hooks';
import { send } from './lib/api.ts';
import { place } from './lib/router.ts';
import { session } from './lib/session.ts';
import type { Session } from './lib/types.ts';
import { ComparePage } from './pages/compare.tsx';
import { ContainerPage } from './pages/container.tsx';
import { DatabasePage } from './pages/database.tsx';
import { KeysPage } from './pages/keys.tsx';
import { LoginPage } from './pages/login.tsx';
import { MonitorPage } from './pages/monitor.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { Dialogs } from './parts/dialogs.tsx';
import { Shell } from './parts/shell.tsx';
import { Empty, Loading } from './parts/states.tsx';
import { Tour } from './parts/tour.tsx';

export function App() {
  useEffect(() => void loadSession(), []);
  const known = session.value;
  if (known === undefined) return <Loading what="the portal" />;
  if (known.role === null) return <LoginPage onLogin={loadSession} />;
  return (
    <Shell>
      <Page />
      <Tour />
      <Dialogs />
    </Shell>
  );
}

async function loadSession(): Promise<void> {
  const { text } = await send('/portal/session');
  session.value = JSON.parse(text) as Session;
}

function Page() {
  const here = place.value;
  switch (here.page) {
    case 'overview':
      return <OverviewPage />;
    case 'database':
      return <DatabasePage key={here.db} db={here.db} />;
    case 'container':
      return <ContainerPage key={`${here.db}/${here.container}`} {...here} />;
    case 'keys':
      return <KeysPage />;
    case 'monitor':
      return <MonitorPage />;
    case 'compare':
      return <ComparePage />;
    case 'unknown':
      return (
        <Empty isPage title="There is nothing here">
          <p>The address names no page of the portal.</p>
          <a class="button" href="/">
            To the overview
          </a>
        </Empty>
      );
    default:
      return here satisfies never;
  }
}
