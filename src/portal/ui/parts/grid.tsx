/** A grid that draws only the rows in view: all have the same height. Cells are texts, whatever they hold. */
import { useRef, useState } from 'preact/hooks';
import { cellText, short } from '../lib/format.ts';

const ROW_HEIGHT = 30;
const OVERSCAN = 8;
/** More columns are not drawn: the JSON view has all. */
const COLUMNS_MAX = 60;

interface GridColumn {
  readonly name: string;
  readonly type?: string;
}

interface GridProps {
  readonly rows: readonly unknown[];
  readonly columns?: readonly GridColumn[];
  readonly label: string;
  readonly chosen?: ReadonlySet<number>;
  readonly onToggle?: (row: number) => void;
  readonly onOpen?: (row: number) => void;
}

export function Grid({
  rows,
  columns = columnsOf(rows),
  label,
  chosen,
  onToggle,
  onOpen,
}: GridProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState(0);
  const [areSystemShown, setSystemShown] = useState(false);
  const own = columns.filter(({ name }) => !SYSTEM.has(name));
  const hidden = own.length === 0 ? 0 : columns.length - own.length;
  const wanted = areSystemShown || hidden === 0 ? columns : own;
  const shown = wanted.slice(0, COLUMNS_MAX);
  const height = Math.min(520, (rows.length + 1) * ROW_HEIGHT + 18);
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
  const last = Math.min(rows.length, first + Math.ceil(height / ROW_HEIGHT) + 2 * OVERSCAN);
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setFocused(next);
    const element = frame.current;
    if (element === null) return;
    if (next * ROW_HEIGHT < element.scrollTop) element.scrollTop = next * ROW_HEIGHT;
    const bottom = (next + 2) * ROW_HEIGHT - element.clientHeight + 16;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.floor(height / ROW_HEIGHT) - 2;
    if (event.key === 'ArrowDown') move(focused + 1);
    else if (event.key === 'ArrowUp') move(focused - 1);
    else if (event.key === 'PageDown') move(focused + page);
    else if (event.key === 'PageUp') move(focused - page);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(rows.length - 1);
    else if (event.key === 'Enter') onOpen?.(focused);
    else if (event.key === ' ' && onToggle !== undefined) onToggle(focused);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        class="grid"
        ref={frame}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={rows.length > 0 ? `row-${focused}` : undefined}
        tabIndex={0}
        style={{ height: `${height}px` }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
      >
        <table role="presentation">
          <thead role="rowgroup">
            <tr role="row">
              {onToggle && (
                <th role="columnheader" class="narrow">
                  <span class="offscreen">Chosen</span>
                </th>
              )}
              {shown.map(({ name, type }) => (
                <th key={name} role="columnheader" title={short(name)}>
                  {short(name, 40)} {type !== undefined && <small>{type}</small>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            <Spacer height={first * ROW_HEIGHT} />
            {rows.slice(first, last).map((row, index) => {
              const at = first + index;
              return (
                <tr
                  key={at}
                  id={`row-${at}`}
                  role="row"
                  aria-rowindex={at + 2}
                  aria-selected={at === focused}
                  class={at === focused ? 'focused' : ''}
                  onClick={() => {
                    setFocused(at);
                    onOpen?.(at);
                  }}
                >
                  {onToggle && (
                    <td role="gridcell" class="narrow">
                      <input
                        type="checkbox"
                        aria-label={`Choose row ${at + 1}`}
                        checked={chosen?.has(at) === true}
                        tabIndex={-1}
                        onClick={(event) => event.stopPropagation()}
                        onChange={() => onToggle(at)}
                      />
                    </td>
                  )}
                  {shown.map(({ name }) => (
                    <td key={name} role="gridcell">
                      <bdi>{cellText(valueAt(row, name))}</bdi>
                    </td>
                  ))}
                </tr>
              );
            })}
            <Spacer height={(rows.length - last) * ROW_HEIGHT} />
          </tbody>
        </table>
      </div>
      {hidden > 0 && (
        <label class="check">
          <input
            type="checkbox"
            checked={areSystemShown}
            onChange={(event) => setSystemShown(event.currentTarget.checked)}
          />{' '}
          columns of the system
        </label>
      )}
      {wanted.length > shown.length && (
        <p class="muted">
          {wanted.length} columns, of which {shown.length} are shown: the JSON has all.
        </p>
      )}
    </>
  );
}

function Spacer({ height }: { readonly height: number }) {
  return height <= 0 ? null : (
    <tr role="presentation">
      <td role="presentation" style={{ height: `${height}px`, padding: 0 }} />
    </tr>
  );
}

const SYSTEM: ReadonlySet<string> = new Set([
  '_rid',
  '_self',
  '_etag',
  '_attachments',
  '_ts',
  '_lsn',
]);
const SCANNED_MAX = 500;

/** The columns that rows have; those of the system last. Rows that are no objects have one column. */
export function columnsOf(rows: readonly unknown[]): readonly GridColumn[] {
  const names = new Set<string>();
  let isPlain = false;
  for (const row of rows.slice(0, SCANNED_MAX))
    if (isObject(row)) for (const name of Object.keys(row)) names.add(name);
    else isPlain = true;
  const sorted = [...names].sort((a, b) => Number(SYSTEM.has(a)) - Number(SYSTEM.has(b)));
  return [...(isPlain ? [{ name: 'value' }] : []), ...sorted.map((name) => ({ name }))];
}

function valueAt(row: unknown, name: string): unknown {
  if (!isObject(row)) return name === 'value' ? row : undefined;
  return Object.hasOwn(row, name) ? row[name] : undefined;
}

function isObject(row: unknown): row is Readonly<Record<string, unknown>> {
  return typeof row === 'object' && row !== null && !Array.isArray(row) && !('rawJSON' in row);
}
