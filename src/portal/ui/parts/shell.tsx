/** The frame of every page: where one is, what there is, how fresh the figures are. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { NewContainer } from '../forms/new-container.tsx';
import { NewDatabase } from '../forms/new-database.tsx';
import { overview, watchAccount } from '../lib/account.ts';
import { send } from '../lib/api.ts';
import { apiName, short } from '../lib/format.ts';
import { isHelpOpen, isPaletteOpen } from '../lib/keyboard.ts';
import { heardMs, isStale } from '../lib/live.ts';
import { containerPath, databasePath, place } from '../lib/router.ts';
import { isReadOnly, readOnlyReason, session, switchReadOnly } from '../lib/session.ts';
import { nextTheme, theme } from '../lib/theme.ts';
import { showDialog } from './dialogs.tsx';

export function Shell({ children }: { readonly children: ComponentChildren }) {
  useEffect(watchAccount, []);
  const [isNavOpen, setNavOpen] = useState(false);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="bar">
        <button
          type="button"
          class="quiet menu"
          aria-expanded={isNavOpen}
          aria-controls="nav"
          onClick={() => setNavOpen(!isNavOpen)}
        >
          ☰<span class="offscreen">Menu</span>
        </button>
        <a class="brand" href="/">
          Mesocosm
        </a>
        <Crumbs />
        <span class="grow" />
        <Freshness />
        <button
          type="button"
          class="quiet"
          aria-pressed={isReadOnly.value}
          title={readOnlyReason.value ?? 'Let this page only read'}
          disabled={session.value?.role === 'read' || session.value?.isReadOnly}
          onClick={switchReadOnly}
        >
          {isReadOnly.value ? '🔒 read-only' : 'read-only'}
        </button>
        <button type="button" class="quiet" title={`Theme: ${theme.value}`} onClick={nextTheme}>
          ◐<span class="offscreen">Light or dark</span>
        </button>
        <button
          type="button"
          class="quiet wide-only"
          onClick={() => {
            isPaletteOpen.value = true;
          }}
        >
          <kbd>Ctrl K</kbd>
        </button>
        <button
          type="button"
          class="quiet"
          title="Keys"
          onClick={() => {
            isHelpOpen.value = true;
          }}
        >
          ?<span class="offscreen">Help</span>
        </button>
        {session.value?.isOpen === false && (
          <button type="button" class="quiet" onClick={() => void logout()}>
            Log out
          </button>
        )}
      </header>
      <nav
        id="nav"
        class={isNavOpen ? 'nav open' : 'nav'}
        aria-label="Account"
        onClick={() => setNavOpen(false)}
      >
        <Tree />
      </nav>
      <main id="main" tabIndex={-1} class={isStale.value ? 'stale' : ''}>
        {children}
      </main>
    </div>
  );
}

async function logout(): Promise<void> {
  await send('/portal/logout', { method: 'POST' });
  location.reload();
}

function Crumbs() {
  const here = place.value;
  if (here.page !== 'container' && here.page !== 'database') return null;
  return (
    <span class="crumbs">
      <a href={databasePath(here.db)}>{short(here.db, 40)}</a>
      {here.page === 'container' && (
        <>
          <span aria-hidden="true"> / </span>
          <a href={containerPath(here.db, here.container)}>{short(here.container, 40)}</a>
        </>
      )}
    </span>
  );
}

/** Amber after three seconds without news, with their age. */
function Freshness() {
  const heard = heardMs.value;
  const age = heard === undefined ? 0 : Math.round((performance.now() - heard) / 1000);
  if (heard === undefined) return <span class="live muted">connecting</span>;
  return isStale.value ? (
    <span class="live amber" role="status">
      <i /> numbers are {age} s old
    </span>
  ) : (
    <span class="live">
      <i /> live
    </span>
  );
}

function Tree() {
  const here = place.value;
  const { databases = [], containers = [] } = overview.value ?? {};
  const current = (isCurrent: boolean) => (isCurrent ? { 'aria-current': 'page' as const } : {});
  return (
    <>
      <ul>
        <li>
          <a href="/" {...current(here.page === 'overview')}>
            Overview
          </a>
        </li>
        <li>
          <a href="/compare" {...current(here.page === 'compare')}>
            Compare
          </a>
        </li>
        <li>
          <a href="/monitor" {...current(here.page === 'monitor')}>
            Monitor
          </a>
        </li>
        <li>
          <a href="/keys" {...current(here.page === 'keys')}>
            Keys
          </a>
        </li>
      </ul>
      <h2>Databases</h2>
      <ul class="tree">
        {databases.map(({ id }) => (
          <li key={id}>
            <a href={databasePath(id)} {...current(here.page === 'database' && here.db === id)}>
              {short(id, 40)}
            </a>
            <ul>
              {containers
                .filter(({ db }) => db === id)
                .map(({ container, api, alerts }) => (
                  <li key={container}>
                    <a
                      href={containerPath(id, container)}
                      {...current(
                        here.page === 'container' && here.db === id && here.container === container,
                      )}
                    >
                      {short(container, 40)}
                      {alerts.length > 0 && <span class="dot" title={alerts[0]?.message} />}
                      <small>{api === 'nosql' ? '' : apiName(api)}</small>
                    </a>
                  </li>
                ))}
            </ul>
          </li>
        ))}
        {databases.length === 0 && <li class="muted">none yet</li>}
      </ul>
      <p class="row">
        <WriteButton onClick={() => showDialog(<NewDatabase />)}>New database</WriteButton>
        <WriteButton onClick={() => showDialog(<NewContainer />)}>New container</WriteButton>
      </p>
    </>
  );
}

/** A button that changes something; off where the page only reads, and then it says why. */
export function WriteButton({
  onClick,
  children,
  class: kind = '',
  disabled = false,
}: {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly disabled?: boolean;
}) {
  return (
    <button
      type="button"
      class={kind}
      disabled={disabled || isReadOnly.value}
      title={readOnlyReason.value ?? ''}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
