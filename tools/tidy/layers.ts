/** Imports against the layers: a file imports from lower layers only, through that folder's index.ts. */
import { dirname, relative, resolve } from 'node:path';

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
  net: 6,
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
  return composes && /^engine\/((memory|sqlite|postgres)\/index|async-engine)\.ts$/.test(resolved);
}
