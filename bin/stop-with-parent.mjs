// The server ends with what started it. npm runs a command in a shell: a signal that ends npm may end the shell and leave
// the command, and kill -9 of npm leaves both. So the server looks whether they are still there, and else stops in order.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const INTERVAL_MS = 250;
const SHELLS = new Set(['sh', 'dash', 'bash', 'zsh', 'ash', 'ksh', 'busybox']);

export function stopWithParent() {
  const parent = process.ppid;
  const starter = starterOf(parent);
  const watch = setInterval(() => {
    if (process.ppid === parent && isRunning(starter)) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, INTERVAL_MS);
  watch.unref();
}

/** Whoever started the shell that this was started by; undefined where there is no shell between. */
function starterOf(parent) {
  if (process.platform === 'win32') return undefined;
  const { name, ppid } = process.platform === 'linux' ? fromProc(parent) : fromPs(parent);
  return SHELLS.has(name) && ppid > 1 ? ppid : undefined;
}

function fromProc(pid) {
  try {
    // pid (name) state ppid …; the name may hold anything.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const nameEnd = text.lastIndexOf(')');
    const [, ppid] = text.slice(nameEnd + 2).split(' ');
    return { name: text.slice(text.indexOf('(') + 1, nameEnd), ppid: Number(ppid) };
  } catch {
    return {};
  }
}

function fromPs(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  const match = /^\s*(\d+)\s+-?(?:.*\/)?(\S+)\s*$/.exec(stdout ?? '');
  return match === null ? {} : { ppid: Number(match[1]), name: match[2] };
}

function isRunning(pid) {
  if (pid === undefined) return true;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
