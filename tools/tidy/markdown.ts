/** Markdown that people can read: lines that fit, links that lead somewhere. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Two files fit beside each other on a screen. */
const LINE_LENGTH_MAX = 120;

/** Complaints about one Markdown file; `path` is relative to `root`. */
export function markdownComplaints(root: string, path: string, text: string): string[] {
  const complaints: string[] = [];
  text.split('\n').forEach((line, at) => {
    if (line.length > LINE_LENGTH_MAX)
      complaints.push(`${path}:${at + 1}: ${line.length} characters (limit ${LINE_LENGTH_MAX})`);
  });
  for (const [, target] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
    const file = (target as string).replace(/#.*$/, '');
    if (file === '' || /^[a-z]+:/.test(file)) continue;
    if (!existsSync(join(root, dirname(path), file)))
      complaints.push(`${path}: the link to ${target} leads nowhere`);
  }
  return complaints;
}

function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
}
