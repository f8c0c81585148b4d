/** The keys of the page. */
import { isHelpOpen } from '../lib/keyboard.ts';
import { Dialog } from './dialogs.tsx';

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl+K', 'everything: places and actions'],
  ['g o', 'overview'],
  ['g k', 'keys and connection strings'],
  ['g m', 'monitor'],
  ['g c', 'compare two containers'],
  ['g p, g d, g q', 'partitions, data, query of this container'],
  ['g f, g s, g e', 'feed, scripts, settings of this container'],
  ['/', 'filter of this page'],
  ['Ctrl+Enter', 'run the query'],
  ['Escape', 'cancel it, close a dialog'],
  ['Ctrl+S', 'save the item'],
  ['T', 'pictures as tables'],
  ['← →', 'from partition to partition'],
];

/** What the key after `g` may be. */
export function GoHint() {
  const places = KEYS.filter(([keys]) => keys.startsWith('g '));
  return (
    <p class="go-hint" role="status">
      <kbd>g</kbd> then{' '}
      {places.map(([keys, what]) => (
        <span key={keys}>
          <kbd>{keys.replaceAll('g ', '')}</kbd> {what}
        </span>
      ))}
    </p>
  );
}

export function Help() {
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <table class="plain">
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
