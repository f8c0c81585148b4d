/**
 * Checks what neither the compiler nor the linter knows: imports against the layers, files too long to be one concept,
 * crowded folders, folders without a README, words, unused exports, Markdown. Run by `npm run tidy`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SourceFile, unusedExports } from './tidy/exports.ts';
import { importComplaints } from './tidy/layers.ts';
import { markdownComplaints } from './tidy/markdown.ts';
import { wordComplaints } from './tidy/words.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const LINES_MAX = 400;
/** Parsers and tables are long by nature. */
const LINES_MAX_PARSER = 800;
/** Files of one folder, tests beside them counted: more have no common purpose. */
const FILES_PER_FOLDER_MAX = 26;

function linesMax(path: string): number {
  return /(parser|lexer|functions)/.test(path) ? LINES_MAX_PARSER : LINES_MAX;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    // Packages that the bench installs are not ours.
    if (entry.name === 'node_modules') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

function read(file: string): SourceFile {
  return { path: relative(root, file), text: readFileSync(file, 'utf8') };
}

/** Complaints about one TypeScript file. */
function sourceComplaints({ path, text }: SourceFile): string[] {
  const complaints = path.startsWith('src/') ? importComplaints(path.slice(4), text) : [];
  const lines = text.split('\n').length;
  if (lines > linesMax(path) && !path.includes('.test.'))
    complaints.push(`${path}: ${lines} lines; split it by verb (limit ${linesMax(path)})`);
  return path.startsWith('tools/tidy')
    ? complaints
    : [...complaints, ...wordComplaints(path, text)];
}

/** Complaints about the folders of the sources, of tests and of the bench. */
function folderComplaints(sources: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) => {
    const needsReadme = folder.startsWith('src/') && !existsSync(join(root, folder, 'README.md'));
    const complaints = needsReadme ? [`${folder}: no README.md`] : [];
    if (count > FILES_PER_FOLDER_MAX)
      complaints.push(`${folder}: ${count} files (limit ${FILES_PER_FOLDER_MAX})`);
    return complaints;
  });
}

function tidy(): string[] {
  const folders = ['src', 'tests', 'bench', 'tools', 'docs'].map((name) => join(root, name));
  const files = [...folders.flatMap(filesBelow), ...rootPages()].map(read);
  const sources = files.filter(({ path }) => /\.tsx?$/.test(path));
  const pages = files.filter(({ path }) => path.endsWith('.md'));
  return [
    ...sources.flatMap(sourceComplaints),
    ...folderComplaints(sources),
    ...unusedExports(sources),
    ...pages.flatMap(({ path, text }) => [
      ...markdownComplaints(root, path, text),
      ...wordComplaints(path, text),
    ]),
  ];
}

function rootPages(): string[] {
  return readdirSync(root)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, name));
}

const complaints = tidy();
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
