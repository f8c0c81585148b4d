/** Runs a command line: finds the command, parses its flags, shows its result, returns the exit code. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { parseArgs } from 'node:util';
import { WELL_KNOWN_KEY } from '../base/index.ts';
import type { Command } from './command.ts';
import { CommandError } from './command-error.ts';
import { COMMANDS } from './commands.ts';
import { withProgress } from './progress.ts';

const DEFAULT_ENDPOINT = 'http://127.0.0.1:8081/';

/** Where a command reads and writes: the process in the program, strings in tests. */
interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isInteractive: boolean;
  input(): Promise<string>;
  output(text: string): void;
  error(text: string): void;
}

/** True for the first word of any command of this table. */
export function isCommand(word: string): boolean {
  return COMMANDS.some(({ words }) => words.split(' ')[0] === word);
}

/** Lines for the help text of the whole program, or of the commands that begin with a word. */
export function commandHelp(commands: readonly Command[] = COMMANDS): string {
  const width = Math.max(...commands.map(({ words }) => words.length)) + 2;
  return commands.map(({ words, help }) => `  ${words.padEnd(width)}${help}\n`).join('');
}

/** The help of the command that these words are, or of all that begin with the first; undefined where there is none. */
export function helpFor(words: readonly string[]): string | undefined {
  const command = matching(words);
  if (command !== undefined) return helpOf(command);
  const [noun = ''] = words;
  const verbs = COMMANDS.filter((candidate) => candidate.words.startsWith(`${noun} `));
  if (verbs.length === 0) return undefined;
  return `Usage: mesocosm ${noun} COMMAND [flags]\n\n${commandHelp(verbs)}`;
}

/** Returns the exit code. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const [noun = '', flag] = args;
    if (flag === '--help') {
      terminal.output(helpFor([noun]) ?? '');
      return 0;
    }
    const command = findCommand(args);
    await run(command, args.slice(command.words.split(' ').length), terminal);
    return 0;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    terminal.error(`mesocosm: ${error.message}\n`);
    return error.exitCode;
  }
}

function findCommand(args: readonly string[]): Command {
  const found = matching(args);
  if (found !== undefined) return found;
  const [noun = ''] = args;
  const verbs = COMMANDS.filter(({ words }) => words.startsWith(`${noun} `));
  throw new CommandError(2, `say one of: ${verbs.map(({ words }) => words).join(', ')}.`);
}

function matching(args: readonly string[]): Command | undefined {
  return COMMANDS.find(({ words }) => words.split(' ').every((word, at) => args[at] === word));
}

async function run(command: Command, args: readonly string[], terminal: Terminal): Promise<void> {
  const { values, positionals } = parse(command, args);
  if (values.help === true) {
    terminal.output(helpOf(command));
    return;
  }
  const [min, max] = command.arguments;
  if (positionals.length < min || positionals.length > max)
    throw new CommandError(2, `usage: mesocosm ${command.words} ${command.usage}`.trimEnd());
  const { environment } = terminal;
  const authority = values.ca ?? environment.MESOCOSM_CA;
  if (authority !== undefined) trust(String(authority));
  const client = {
    endpoint: String(values.endpoint ?? environment.MESOCOSM_ENDPOINT ?? DEFAULT_ENDPOINT),
    key: String(values.key ?? environment.MESOCOSM_KEY ?? WELL_KNOWN_KEY),
  };
  const work = command.run({
    client,
    arguments: positionals,
    option: (name) => [values[name] ?? []].flat().map(String),
    input: () => terminal.input(),
    output: {
      show: (json, text) =>
        terminal.output(values.json === true ? `${JSON.stringify(json)}\n` : text()),
    },
  });
  await withProgress(work, `${command.words}: waiting for ${client.endpoint}`, terminal);
}

/** Certificates to trust beside those of the system. */
function trust(file: string): void {
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(file, 'utf8')]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(2, `--ca ${JSON.stringify(file)}: ${reason}`);
  }
}

interface ParsedOption {
  readonly type: 'string' | 'boolean';
  readonly multiple: boolean;
}

function parse(command: Command, args: readonly string[]) {
  const own = Object.entries(command.options ?? {}).map(
    ([name, { value, multiple = false }]): [string, ParsedOption] => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple },
    ],
  );
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(own),
        endpoint: { type: 'string' },
        key: { type: 'string' },
        ca: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }) as {
      values: Readonly<Record<string, string | boolean | string[] | undefined>>;
      positionals: readonly string[];
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new CommandError(2, `${reason}. See mesocosm ${command.words} --help.`);
  }
}

function helpOf({ words, usage, help, options = {} }: Command): string {
  const rows: [string, string][] = [
    ...Object.entries(options).map(([name, option]): [string, string] => [
      option.value === undefined ? `--${name}` : `--${name} ${option.value}`,
      option.help,
    ]),
    ['--endpoint URL', `server (MESOCOSM_ENDPOINT) [${DEFAULT_ENDPOINT}]`],
    ['--key BASE64', 'account key (MESOCOSM_KEY) [the public emulator key]'],
    [
      '--ca FILE',
      'certificate authority of an https server, such as DATA/tls/ca.pem (MESOCOSM_CA)',
    ],
    ['--json', 'print JSON'],
  ];
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('');
  return `Usage: mesocosm ${words} ${usage}\n\n${help}\n\n${lines}`;
}
