/** From a query's text to what the executor runs. Interim: everything is folded; the index does not help yet. */
import { ANYTHING, type Program } from '../../query/index.ts';
import type { Value } from '../../value/index.ts';
import {
  type CompileOptions,
  compileQuery,
  type Query,
  type QueryParameter,
  runQuery,
} from './sql/index.ts';

export interface ProgramOptions extends CompileOptions {
  readonly parameters: readonly QueryParameter[];
  readonly startMs: number;
}

export function programOf(query: Query, options: ProgramOptions): Program {
  const compiled = compileQuery(query, options);
  return {
    condition: ANYTHING,
    shape: {
      kind: 'folding',
      start() {
        const documents: Value[] = [];
        return {
          add(document) {
            documents.push(document);
            return true;
          },
          finish: () => runQuery(compiled, documents, options.parameters, options.startMs),
        };
      },
    },
  };
}
