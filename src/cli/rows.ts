/** Rows of a query as a table for people: a column per property. The whole of every row is in `--json`. */

/** System properties, which few people want to see. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set([
  '_rid',
  '_self',
  '_etag',
  '_attachments',
  '_ts',
]);

/** Longer values are truncated. */
const CELL_LENGTH_MAX = 60;

export function printRows(rows: readonly unknown[]): string {
  if (rows.length === 0) return '';
  const isTable = rows.every(isObject);
  const names = isTable ? namesOf(rows) : ['value'];
  const columns = names.map((name) =>
    columnOf(
      name,
      rows.map((row) => (isTable ? (row as Record<string, unknown>)[name] : row)),
    ),
  );
  const lines = Array.from({ length: rows.length + 1 }, (_, at) =>
    columns
      .map((column) => column[at])
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** Columns in the order of their first use; system properties only where there are no others. */
function namesOf(rows: readonly object[]): readonly string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  const own = [...names].filter((name) => !SYSTEM_NAMES.has(name));
  return own.length === 0 ? [...names] : own;
}

/** The heading and the cells, all of one width; numbers to the right. */
function columnOf(name: string, values: readonly unknown[]): readonly string[] {
  const cells = [cellText(name), ...values.map(cellText)];
  const width = cells.reduce((most, cell) => Math.max(most, cell.length), 0);
  const isNumeric = values.every((value) => value === undefined || typeof value === 'number');
  return cells.map((cell) => (isNumeric ? cell.padStart(width) : cell.padEnd(width)));
}

function cellText(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' && isPlain(value) ? value : JSON.stringify(value);
  return text.length > CELL_LENGTH_MAX ? `${text.slice(0, CELL_LENGTH_MAX - 1)}…` : text;
}

/** Texts that are printed without quotation marks: they cannot be mistaken for other values. */
function isPlain(text: string): boolean {
  return /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(text) && text.trim() === text;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
