/** Rows as files: JSON, one JSON a line, or CSV with quotes where they are needed. */
export type ExportFormat = 'json' | 'ndjson' | 'csv';

export function exportRows(
  rows: readonly unknown[],
  columns: readonly { readonly name: string }[],
  format: ExportFormat,
): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(rows, null, 2)}\n`;
    case 'ndjson':
      return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    case 'csv':
      return csv(
        rows,
        columns.map(({ name }) => name),
      );
    default:
      return format satisfies never;
  }
}

function csv(rows: readonly unknown[], names: readonly string[]): string {
  const lines = rows.map((row) =>
    names.map((name) => {
      const isObject = typeof row === 'object' && row !== null;
      return csvCell(isObject ? (row as Record<string, unknown>)[name] : row);
    }),
  );
  return [names.map(csvCell), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

/** Spreadsheets run what begins like a formula: such texts get a quote in front. */
export function csvCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
