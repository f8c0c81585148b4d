/** The program: finds the command, runs it, and sets the exit code. */
import { text } from 'node:stream/consumers';
import { commandHelp, helpFor, isCommand, runCommand } from '../cli/index.ts';
import { ExitError } from './exit-error.ts';
import { programVersion } from './version.ts';

const HELP = `Usage: mesocosm COMMAND [flags]

  mesocosm start           start the server; mesocosm help start lists its flags
  mesocosm demo-replicas   start four PostgreSQL members and a server on them, on this machine
  mesocosm copy-data       copy a data directory to PostgreSQL, or back
  mesocosm help COMMAND    print the help of a command
  mesocosm --version       print the version
  mesocosm --help          print this text

Commands that talk to a running server (each with --help, --endpoint, --key, --json):
${commandHelp()}`;

async function main(args: readonly string[]): Promise<number | undefined> {
  const [word] = args;
  if (word === 'help' && args.length > 1) return help(args.slice(1));
  if (word === undefined || word === '--help' || word === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (word === '--version') {
    process.stdout.write(`${programVersion()}\n`);
    return 0;
  }
  if (word === 'start') {
    // A dynamic import, because the other commands need nothing of the database.
    const { start } = await import('./start.ts');
    return start(args.slice(1));
  }
  if (word === 'copy-data') {
    const { copyData } = await import('./storage/copy-data.ts');
    return copyData(args.slice(1), process.env);
  }
  if (word === 'demo-replicas') {
    const { demoReplicas } = await import('./storage/demo-replicas.ts');
    return demoReplicas(args.slice(1));
  }
  if (isCommand(word)) return runCommand(args, terminal);
  throw unknownCommand(word);
}

/** Prints the help of one command. */
async function help(words: readonly string[]): Promise<number> {
  if (words[0] === 'start') {
    const { startHelp } = await import('./flags.ts');
    process.stdout.write(startHelp());
    return 0;
  }
  if (words[0] === 'copy-data') {
    const { COPY_HELP } = await import('./storage/copy-data.ts');
    process.stdout.write(COPY_HELP);
    return 0;
  }
  if (words[0] === 'demo-replicas') {
    const { DEMO_HELP } = await import('./storage/demo-replicas.ts');
    process.stdout.write(DEMO_HELP);
    return 0;
  }
  const text = helpFor(words);
  if (text === undefined) throw unknownCommand(words.join(' '));
  process.stdout.write(text);
  return 0;
}

function unknownCommand(words: string): ExitError {
  return new ExitError(2, `there is no command ${JSON.stringify(words)}. See mesocosm --help.`);
}

const terminal = {
  environment: process.env,
  isInteractive: process.stdout.isTTY === true && process.stderr.isTTY === true,
  input: () => text(process.stdin),
  output: (out: string) => process.stdout.write(out),
  error: (out: string) => process.stderr.write(out),
};

main(process.argv.slice(2)).then(
  (code) => {
    // Undefined: the server runs on. process.exit could lose output that is not written yet.
    if (code !== undefined) process.exitCode = code;
  },
  (error: unknown) => {
    if (!(error instanceof ExitError)) throw error;
    process.stderr.write(`mesocosm: ${error.message}\n`);
    process.exit(error.exitCode);
  },
);
