/**
 * Checks what neither the compiler nor the linter knows: imports against the layers, files too long to be one
 * concept, folders without a README, words that mark unfinished work. Run by `npm run tidy`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A file may import from its own layer's folder and from folders of lower numbers, never sideways. */
const LAYERS: Readonly<Record<string, number>> = {
  base: 0,
  value: 1,
  engine: 2,
  partition: 3,
  throughput: 3,
  query: 3,
  catalog: 4,
  search: 4,
  cluster: 5,
  script: 5,
  service: 6,
  http: 6,
  'api/admin': 7,
  'api/nosql': 7,
  'api/mongo': 7,
  'api/gremlin': 7,
  'api/table': 7,
  'api/cassandra': 7,
  portal: 8,
  cli: 8,
  server: 9,
};

const LINES_MAX = 400;
/** Parsers and tables are long by nature. */
const LINES_MAX_PARSER = 800;
const BANNED = [
  { word: /\bTODO\b|\bFIXME\b|\bXXX\b/, why: 'finish it or file it' },
  { word: /\b(it|test|describe)\.(skip|only|todo)\b/, why: 'a test runs or does not exist' },
  { word: /\/(home|root|work)\//, why: 'no machine path' },
];

/** The folder of the layer a source file belongs to, such as `value` or `api/nosql`. */
export function layerOf(pathFromSrc: string): string {
  const parts = pathFromSrc.split('/');
  return parts[0] === 'api' ? `api/${parts[1]}` : (parts[0] as string);
}

/** Complaints about the imports of one file; `path` is relative to src. */
export function importComplaints(path: string, text: string): string[] {
  const complaints: string[] = [];
  const own = layerOf(path);
  for (const [, target] of text.matchAll(/^(?:import|export)\b[^'"]*?from\s+'(\.[^']+)'/gm)) {
    const resolved = relative('/src', resolve('/src', dirname(path), target as string));
    const theirs = layerOf(resolved);
    if (theirs === own) continue;
    const from = LAYERS[own];
    const to = LAYERS[theirs];
    if (from === undefined) complaints.push(`src/${path}: folder ${own} is no layer`);
    else if (to === undefined)
      complaints.push(`src/${path}: imports outside the layers: ${target}`);
    else if (to >= from) complaints.push(`src/${path}: ${own} must not import ${theirs}`);
    else if (resolved !== `${theirs}/index.ts` && !isPlatformDoor(path, resolved))
      complaints.push(`src/${path}: import ${theirs} through its index.ts, not ${target}`);
  }
  return complaints;
}

/** Concrete engines are named only where the server is composed, and in tests. */
function isPlatformDoor(path: string, resolved: string): boolean {
  const composes =
    path.startsWith('server/') || path.endsWith('.test.ts') || path.endsWith('-suite.ts');
  return composes && /^engine\/((memory|sqlite|pgwire)\/index|async-engine)\.ts$/.test(resolved);
}

function linesMax(path: string): number {
  return /(parser|lexer|functions)/.test(path) ? LINES_MAX_PARSER : LINES_MAX;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    // What the bench installs is not ours.
    if (entry.name === 'node_modules') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function tidy(): string[] {
  const complaints: string[] = [];
  const sources = ['src', 'tests', 'bench', 'tools'].flatMap((name) =>
    filesBelow(join(root, name)),
  );
  for (const file of sources.filter((name) => name.endsWith('.ts'))) {
    const path = relative(root, file);
    const text = readFileSync(file, 'utf8');
    if (path.startsWith('src/')) complaints.push(...importComplaints(path.slice(4), text));
    const lines = text.split('\n').length;
    if (lines > linesMax(path) && !path.includes('.test.'))
      complaints.push(`${path}: ${lines} lines; split it by verb (limit ${linesMax(path)})`);
    if (path === 'tools/tidy.ts' || path === 'tools/tidy.test.ts') continue;
    for (const { word, why } of BANNED)
      if (word.test(text)) complaints.push(`${path}: ${word.exec(text)?.[0]}: ${why}`);
  }
  const folders = new Set(filesBelow(join(root, 'src')).map((file) => dirname(file)));
  for (const folder of folders)
    if (!existsSync(join(folder, 'README.md')))
      complaints.push(`${relative(root, folder)}: no README.md`);
  return complaints;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const complaints = tidy();
  for (const complaint of complaints) console.error(complaint);
  if (complaints.length > 0) process.exit(1);
}
