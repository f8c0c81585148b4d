/** Numbers and names as people read them. */

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const DECIMAL = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

export function count(value: number): string {
  return COUNT.format(value);
}

/** Request units: two digits where they are few. */
export function units(value: number): string {
  if (value === 0) return '0';
  if (value < 10) return String(Math.round(value * 100) / 100);
  return value < 1000 ? DECIMAL.format(value) : COUNT.format(value);
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number | null): string {
  if (value === null) return '–';
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : DECIMAL.format(size)} ${BYTE_UNITS[unit]}`;
}

export function percent(value: number): string {
  return `${DECIMAL.format(value)} %`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${Math.round(seconds % 60)} s`;
  if (seconds < 86_400)
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB');
}

/** Texts of others are cut: a name may have a megabyte. */
const SHOWN_LENGTH_MAX = 200;

export function short(text: string, max = SHOWN_LENGTH_MAX): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${count(text.length)} characters)`;
}

/** A partition key: `"amazon"`, or several levels. */
export function keyText(key: readonly unknown[] | undefined, hash = ''): string {
  if (key === undefined) return hash === '' ? 'unknown key' : `hash ${hash.slice(0, 12)}…`;
  return key
    .map((value) => short(value === undefined ? 'missing' : JSON.stringify(value), 60))
    .join(' / ');
}

const API_NAMES: Readonly<Record<string, string>> = {
  nosql: 'NoSQL',
  mongo: 'MongoDB',
  cassandra: 'Cassandra',
  gremlin: 'Gremlin',
  table: 'Table',
};

export function apiName(api: string): string {
  return API_NAMES[api] ?? api;
}

/** One cell of a grid as text. */
export function cellText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return short(value, 300);
  return short(JSON.stringify(value) ?? '', 300);
}
