/** Columns of text for people. */

/** The first row is the heading. Numbers, and the heading above them, are set to the right. */
export function printTable(rows: readonly (readonly (string | number)[])[]): string {
  const widths: number[] = [];
  const isNumeric: boolean[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, text(cell).length);
      isNumeric[at] ||= typeof cell === 'number';
    });
  const print = (row: readonly (string | number)[]): string =>
    row
      .map((cell, at) => {
        const width = widths[at] as number;
        return isNumeric[at] ? text(cell).padStart(width) : text(cell).padEnd(width);
      })
      .join('  ')
      .trimEnd();
  return `${rows.map(print).join('\n')}\n`;
}

function text(cell: string | number): string {
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : cell;
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function printBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** `share` of a bar `width` characters long; any share above zero shows at least a sliver. */
export function printBar(share: number, width: number): string {
  const eighths = Math.round(share * width * 8);
  const count = share > 0 ? Math.max(1, eighths) : 0;
  const rest = count % 8;
  return '█'.repeat(Math.floor(count / 8)) + (rest === 0 ? '' : ' ▏▎▍▌▋▊▉'.charAt(rest));
}
