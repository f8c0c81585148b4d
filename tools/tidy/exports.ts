/** Exports that no other file uses: they are not exported. */

export interface SourceFile {
  /** Relative to the root of the project. */
  readonly path: string;
  readonly text: string;
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;

/** One complaint per export of `src` that no other file mentions; a barrel's mention does not count. */
export function unusedExports(files: readonly SourceFile[]): string[] {
  const uses = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const code = path.endsWith('/index.ts')
      ? text.replace(/^export [^;]*? from '[^']*';/gm, '')
      : text;
    for (const [name] of code.matchAll(/\b[A-Za-z_]\w*\b/g)) {
      const users = uses.get(name);
      if (users === undefined) uses.set(name, new Set([path]));
      else users.add(path);
    }
  }
  const complaints: string[] = [];
  for (const { path, text } of files) {
    if (!path.startsWith('src/') || path.endsWith('/index.ts')) continue;
    for (const [, name] of text.matchAll(DECLARED)) {
      const users = uses.get(name as string) as Set<string>;
      if (users.size === 1) complaints.push(`${path}: nobody else uses ${name}: do not export it`);
    }
  }
  return complaints;
}
