/** All places and actions by name. */
import { useState } from 'preact/hooks';
import { NewContainer } from '../forms/new-container.tsx';
import { NewDatabase } from '../forms/new-database.tsx';
import { overview } from '../lib/account.ts';
import { isHelpOpen, isPaletteOpen } from '../lib/keyboard.ts';
import { CONTAINER_TABS, containerPath, databasePath, navigate, place } from '../lib/router.ts';
import { switchReadOnly } from '../lib/session.ts';
import { nextTheme } from '../lib/theme.ts';
import { Dialog, showDialog } from './dialogs.tsx';

interface Action {
  readonly name: string;
  run(): void;
}

const SHOWN_MAX = 12;

export function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const words = text.toLowerCase().split(/\s+/);
  const found = actions()
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .slice(0, SHOWN_MAX);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const run = (action: Action | undefined): void => {
    close();
    action?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to, or do" onClose={close}>
      <input
        type="text"
        aria-label="Name of a place or an action"
        placeholder="orders query, new container, dark…"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette">
        {found.map((action, index) => (
          <li key={action.name}>
            <button
              type="button"
              class={index === at ? 'chosen' : 'quiet'}
              onClick={() => run(action)}
            >
              {action.name.slice(0, 120)}
            </button>
          </li>
        ))}
        {found.length === 0 && <li class="muted">Nothing of this name.</li>}
      </ul>
    </Dialog>
  );
}

function actions(): readonly Action[] {
  const go = (name: string, path: string): Action => ({ name, run: () => navigate(path) });
  const here = place.value;
  const tabs =
    here.page === 'container'
      ? CONTAINER_TABS.map((tab) =>
          go(`This container: ${tab}`, containerPath(here.db, here.container, tab)),
        )
      : [];
  const { databases = [], containers = [] } = overview.value ?? {};
  return [
    ...tabs,
    go('Overview', '/'),
    go('Keys and connection strings', '/keys'),
    go('Monitor', '/monitor'),
    go('Compare two containers', '/compare'),
    { name: 'New database', run: () => showDialog(<NewDatabase />) },
    { name: 'New container', run: () => showDialog(<NewContainer />) },
    { name: 'Switch light and dark', run: nextTheme },
    { name: 'Switch read-only', run: switchReadOnly },
    {
      name: 'Show keys of the keyboard',
      run: () => {
        isHelpOpen.value = true;
      },
    },
    ...databases.map(({ id }) => go(`Database ${id}`, databasePath(id))),
    ...containers.flatMap(({ db, container }) =>
      CONTAINER_TABS.map((tab) =>
        go(`${db} / ${container}: ${tab}`, containerPath(db, container, tab)),
      ),
    ),
  ];
}
