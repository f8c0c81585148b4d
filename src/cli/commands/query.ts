/** `query DB/CONTAINER "SELECT …"`: the rows of a query, or a report of its execution. */
import { append } from '../../base/index.ts';
import { type ClientOptions, type ClientReply, property, send } from '../client.ts';
import type { Command, CommandContext } from '../command.ts';
import { CommandError } from '../command-error.ts';
import { containerPath, keyHeader, parseKeyValue } from '../names.ts';
import { printRows } from '../rows.ts';
import { printBytes, printTable } from '../table.ts';

const ROWS_DEFAULT = 1000;
const PAGE_ROWS = 1000;

export const QUERY_COMMANDS: readonly Command[] = [
  {
    words: 'query',
    usage: 'DB/CONTAINER QUERY [--parameter NAME=VALUE] [--explain]',
    help: 'run a query; with --explain show how it runs and what each part costs',
    arguments: [2, 2],
    options: {
      explain: { help: 'plan, partitions, indexes, items loaded and charges instead of rows' },
      parameter: {
        value: 'NAME=VALUE',
        help: 'value of @NAME, JSON or text; once per parameter',
        multiple: true,
      },
      'partition-key': {
        value: 'VALUE',
        help: 'only this partition key, JSON or text; once per level',
        multiple: true,
      },
      limit: { value: 'ROWS', help: `rows shown at most [${ROWS_DEFAULT}]` },
    },
    run: (context) => (context.option('explain').length > 0 ? explain(context) : rows(context)),
  },
];

async function rows({
  client,
  arguments: [name = '', query = ''],
  option,
  output,
}: CommandContext) {
  const path = [...containerPath(name), 'docs'];
  const limit = rowLimit(option('limit').at(-1));
  const key = option('partition-key');
  const found: unknown[] = [];
  let charge = 0;
  let continuation: string | null = null;
  do {
    const reply: ClientReply = await send(client, {
      verb: 'POST',
      path,
      headers: {
        'content-type': 'application/query+json',
        'x-ms-documentdb-isquery': 'true',
        'x-ms-documentdb-query-enablecrosspartition': 'true',
        'x-ms-max-item-count': String(Math.min(PAGE_ROWS, limit - found.length)),
        ...(key.length === 0 ? {} : keyHeader(key.map(parseKeyValue))),
        ...(continuation === null ? {} : { 'x-ms-continuation': continuation }),
      },
      body: JSON.stringify({ query, parameters: option('parameter').map(parseParameter) }),
    });
    const page = property(reply.body, 'Documents');
    if (Array.isArray(page)) append(found, page);
    charge += Number(reply.headers.get('x-ms-request-charge'));
    continuation = reply.headers.get('x-ms-continuation');
  } while (continuation !== null && found.length < limit);
  output.show(found, () => {
    const table = found.length === 0 ? '' : `${printRows(found)}\n`;
    const more = continuation === null ? '' : ', more to come (--limit)';
    return `${table}${found.length} row${found.length === 1 ? '' : 's'}, ${charge.toFixed(2)} RU${more}\n`;
  });
}

async function explain(context: CommandContext): Promise<void> {
  const { client, arguments: names, option, output } = context;
  const [name = '', query = ''] = names;
  if (option('partition-key').length > 0 || option('limit').length > 0)
    throw new CommandError(2, '--explain runs the whole query: no --partition-key, no --limit.');
  const body = await askForExplanation(client, name, {
    query,
    parameters: option('parameter').map(parseParameter),
  });
  output.show(body, () => printExplanation(body));
}

async function askForExplanation(
  client: ClientOptions,
  name: string,
  query: object,
): Promise<unknown> {
  const [, db, , container] = containerPath(name);
  const { body } = await send(client, {
    verb: 'POST',
    path: ['_mesocosm', 'explain'],
    body: JSON.stringify({ db, container, ...query }),
  });
  return body;
}

function printExplanation(body: unknown): string {
  const text = (name: string): string => String(property(body, name));
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
  const work = property(body, 'work');
  const parts = property(body, 'chargeParts');
  const count = (name: string): number => Number(property(work, name));
  const charge = (name: string): number => Number(property(parts, name));
  const facts = [
    ['execution', text('execution')],
    ['condition', text('condition')],
    [
      'partitions',
      list(property(body, 'targets'))
        .map((target) => property(target, 'partition'))
        .join(', '),
    ],
    ['pages', text('pages') + (property(body, 'isComplete') === true ? '' : ', cut short')],
    ['rows', text('rows')],
    ['duration', `${text('durationMs')} ms`],
  ] as const;
  const accesses = list(property(body, 'accesses'));
  return [
    ...facts.map(([name, value]) => `${name.padEnd(11)} ${value}\n`),
    '\n',
    printTable([
      ['page', 'partition', 'access'],
      ...accesses.map((access) => [
        Number(property(access, 'page')),
        String(property(access, 'partition')),
        String(property(access, 'access')),
      ]),
    ]),
    '\n',
    printTable([
      ['operator', 'work', 'ms', 'RU'],
      ['start', `${accesses.length} partitions`, '', charge('partitions')],
      ['index', `${count('indexEntries')} entries`, count('indexMs'), charge('index')],
      [
        'load',
        `${count('itemsLoaded')} items, ${printBytes(count('bytesLoaded'))}`,
        count('loadMs'),
        charge('items'),
      ],
      ['output', `${text('rows')} rows, ${printBytes(count('bytesOut'))}`, '', charge('output')],
      ['total', '', Number(property(body, 'durationMs')), Number(property(body, 'charge'))],
    ]),
  ].join('');
}

/** `@name=value`, with or without the @. */
function parseParameter(text: string): { readonly name: string; readonly value: unknown } {
  const at = text.indexOf('=');
  if (at < 1)
    throw new CommandError(2, `--parameter ${JSON.stringify(text)}: allowed is NAME=VALUE.`);
  const name = text.slice(0, at);
  return {
    name: name.startsWith('@') ? name : `@${name}`,
    value: parseKeyValue(text.slice(at + 1)),
  };
}

function rowLimit(text: string | undefined): number {
  if (text === undefined) return ROWS_DEFAULT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new CommandError(2, `--limit ${JSON.stringify(text)}: allowed is a number of rows.`);
}
