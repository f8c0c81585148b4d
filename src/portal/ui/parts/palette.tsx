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
  /** By name: the list may grow while one looks at it. */
  const [chosen, setChosen] = useState<string>();
  const words = text.toLowerCase().split(/\s+/);
  const found = actions()
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .slice(0, SHOWN_MAX);
  const at = Math.max(
    0,
    found.findIndex(({ name }) => name === chosen),
  );
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const run = (action: Action | undefined): void => {
    close();
    action?.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setChosen(found[at + 1]?.name ?? chosen);
    else if (event.key === 'ArrowUp') setChosen(found[at - 1]?.name ?? chosen);
    else if (event.key === 'Enter') run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to, or do" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-expanded
        aria-controls="palette"
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `palette-${at}` : undefined}
        aria-label="Name of a place or an action"
        placeholder="orders query, new container, dark…"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette" id="palette" role="listbox" aria-label="Places and actions">
        {found.map((action, index) => (
          <li
            key={action.name}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => run(action)}
          >
            {action.name.slice(0, 120)}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="muted">Nothing of this name.</p>}
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
