/** SQL of the NoSQL API, through the compiler and the executor of the wire. */
import type { PageRunner } from '../../api/nosql/index.ts';
import type { Service } from '../../service/index.ts';
import { fanOutHints } from './explanation.ts';
import type { Explanation, Runner } from './runner.ts';

type PageExplanation = Awaited<ReturnType<PageRunner>>['explain'];

export function nosqlRunner(runPage: PageRunner, service: Service): Runner {
  return async ({ db, container, text, parameters, key, limit, continuation, signal }) => {
    const request = { db, container, query: text, parameters };
    const page = await runPage({ request, limit, continuation, key, signal });
    const database = service.databases.find(db);
    const paths =
      (database && service.containers.find(database, container)?.partitionKey.paths) ?? [];
    return {
      rows: page.rows,
      charge: page.charge,
      continuation: page.continuation,
      explain: explanationOf(page.explain, page.partitions, paths),
    };
  };
}

function explanationOf(
  explain: PageExplanation,
  partitions: readonly string[],
  paths: readonly string[],
): Explanation {
  const { work, chargeParts, execution, condition, indexes, accesses, isOneKey } = explain;
  const count = (name: string): string => (work[name] ?? 0).toLocaleString('en-US');
  const keyText = paths.map((path) => `c${path.replaceAll('/', '.')} = …`).join(' AND ');
  const start = chargeParts.partitions;
  const rest = chargeParts.index + chargeParts.items + chargeParts.output;
  const read = partitions.length;
  return {
    fanOut: { read, of: explain.partitionCount },
    isOneKey,
    operators: [
      { name: 'start', detail: `${Math.max(1, read)} ×`, requestUnits: start },
      {
        name: 'index',
        detail: `${count('indexEntries')} entries`,
        requestUnits: chargeParts.index,
      },
      { name: 'load', detail: `${count('itemsLoaded')} items`, requestUnits: chargeParts.items },
      { name: 'output', detail: `${count('bytesOut')} bytes`, requestUnits: chargeParts.output },
    ],
    accesses,
    facts: [
      ['execution', execution],
      ['condition', condition],
      ['items matched', `${count('itemsMatched')} of ${count('itemsLoaded')} loaded`],
      ['time in indexes', `${work.indexMs ?? 0} ms`],
      ['time loading', `${work.loadMs ?? 0} ms`],
    ],
    hints: [
      ...(isOneKey ? [] : fanOutHints(read, keyText)),
      ...(isOneKey || read < 2
        ? []
        : [
            `As a query of one key: some ${Math.round((start / read + rest / read) * 10) / 10} RU.`,
          ]),
      ...indexHints(indexes),
    ],
  };
}

function indexHints(indexes: PageExplanation['indexes']): readonly string[] {
  const text = JSON.stringify(indexes);
  return /potential[^[]*\[\s*\{/i.test(text) ? [`An index would help: ${potential(text)}.`] : [];
}

/** The paths that the metrics name as not indexed. */
function potential(text: string): string {
  const [, rest = ''] = text.split(/potential/i);
  const paths = [...rest.matchAll(/"(\/[^"]+)"/g)].map(([, path]) => path);
  return [...new Set(paths)].slice(0, 5).join(', ') || 'see the indexing policy';
}
