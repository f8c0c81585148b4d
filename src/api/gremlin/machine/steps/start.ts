/** Steps that bring elements and values into a traversal: V, E, inject. */
import { compileError } from '../../errors.ts';
import { LABEL_KEY, type Search, type SearchCondition } from '../../graph/graph.ts';
import { BATCH_MAX } from '../../limits.ts';
import type { Edge, Vertex } from '../../model/elements.ts';
import { numberOf } from '../../model/number.ts';
import { Predicate } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { StepTable } from '../compiler.ts';
import { chunks, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { conditionOf, elementTest } from './has.ts';
import { fresh } from './reduce.ts';

export const START_STEPS: StepTable = {
  V: (clause) => elementsStep(clause, 'vertices'),
  E: (clause) => elementsStep(clause, 'edges'),
  countElements: ({ args }) => countStep(args),
  inject: ({ args, isStart }) =>
    async function* (input, frame) {
      if (isStart) {
        for await (const batch of input)
          for (const seed of batch) yield* chunks(args.map((value) => seed.to(value)));
        return;
      }
      const injected = Array.from({ length: frame.origins }, (_, origin) =>
        args.map((value) => fresh(value, origin, undefined, frame)),
      ).flat();
      // A nested traversal begins with what comes from outside.
      if (frame.isNested !== true) yield* chunks(injected);
      for await (const batch of input) yield batch;
      if (frame.isNested === true) yield* chunks(injected);
    },
};

/** A count that the index tells; where it does not, elements are read and counted. */
function countStep([name, ...labels]: readonly GremlinValue[]): Step {
  const kind = name === 'V' ? 'vertices' : 'edges';
  const texts = labels.map(String);
  const isWanted = ({ label }: Vertex | Edge): boolean =>
    texts.length === 0 || texts.includes(label);
  return async function* (input, frame) {
    const { graph, pace } = frame.run;
    for await (const _ of input);
    let count = await graph.count(kind, texts);
    if (count === undefined) {
      count = 0;
      const conditions = texts.length === 0 ? [] : [labelCondition(texts)];
      for await (const page of graph[kind]({ targets: undefined, conditions })) {
        count += page.filter(isWanted).length;
        await pace.spend(page.length);
      }
    }
    yield [fresh(numberOf('long', count), 0, undefined, frame)];
  };
}

function labelCondition(labels: readonly string[]): SearchCondition {
  return { key: LABEL_KEY, condition: new Predicate('within', labels), isProperty: false };
}

function elementsStep({ name, args, filters, take }: Clause, kind: 'vertices' | 'edges'): Step {
  if (args.length > BATCH_MAX) throw compileError(`${name}() takes at most ${BATCH_MAX} ids.`);
  const tests = filters.map(elementTest);
  const search: Search = {
    targets: args.length === 0 ? undefined : args,
    conditions: filters.flatMap((filter) => conditionOf(filter) ?? []),
    take,
  };
  return async function* (input, { run }) {
    for await (const batch of input)
      for await (const page of run.graph[kind](search)) {
        const found = page.filter((element) => tests.every((test) => test(element)));
        await run.pace.spend(page.length);
        for (let at = 0; at < batch.length; at++) {
          const traverser = batch[at] as Traverser;
          await run.pace.spend(found.length);
          yield* chunks(found.map((element) => traverser.to(element)));
        }
      }
  };
}
