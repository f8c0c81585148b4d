/** The program: finds what was asked for, runs it, and answers with an exit code that tells the truth. */
import { text } from 'node:stream/consumers';
import { commandHelp, isCommand, runCommand } from '../cli/index.ts';
import { ExitError } from './exit-error.ts';
import { programVersion } from './version.ts';

const HELP = `Usage: mesocosm COMMAND [flags]

  mesocosm start        start the server; mesocosm start --help lists its flags
  mesocosm --version    print the version
  mesocosm --help       print this text

Commands that talk to a running server (each with --help, --endpoint, --key, --json):
${commandHelp()}`;

async function main(args: readonly string[]): Promise<number | undefined> {
  const [word] = args;
  if (word === undefined || word === '--help' || word === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  if (word === '--version') {
    process.stdout.write(`${programVersion()}\n`);
    return 0;
  }
  if (word === 'start') {
    // Loaded only here: the other commands need nothing of the database.
    const { start } = await import('./start.ts');
    return start(args.slice(1));
  }
  if (isCommand(word)) return runCommand(args, terminal);
  throw new ExitError(2, `there is no command ${JSON.stringify(word)}. See mesocosm --help.`);
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
    // Undefined: the server runs on. Not process.exit, which could cut off what is still to be written.
    if (code !== undefined) process.exitCode = code;
  },
  (error: unknown) => {
    if (!(error instanceof ExitError)) throw error;
    process.stderr.write(`mesocosm: ${error.message}\n`);
    process.exit(error.exitCode);
  },
);
