/** Accumulators over frames. A frame that moves is folded once: what enters is added, what leaves is taken away. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { type Accumulator, newDeviation } from '../accumulators/numbers.ts';
import { type AccumulatorSpec, isAccumulator, parseAccumulator } from '../accumulators/parse.ts';
import {
  type Sliding,
  slidingCovariance,
  slidingDeviation,
} from '../accumulators/sliding-numbers.ts';
import type { Evaluate, Scope, Frame as ValueFrame } from '../expressions/scope.ts';
import type { Frame } from './frame.ts';
import type { Column, PartitionFunction, Window } from './partition.ts';

type Value = Bson | undefined;

/** Accumulators that windows have alone, or that answer otherwise there. */
export function specOf(kind: string, argument: Bson, scope: Scope): AccumulatorSpec {
  if (kind === '$covariancePop' || kind === '$covarianceSamp') {
    const slide = (): Sliding => slidingCovariance(kind === '$covarianceSamp');
    return { argument: pairOf(argument, scope), start: slide, slide };
  }
  if (kind === '$stdDevPop' || kind === '$stdDevSamp') {
    const isSample = kind === '$stdDevSamp';
    return {
      argument: scope.compile(argument),
      start: () => newDeviation(isSample, true),
      slide: () => slidingDeviation(isSample),
    };
  }
  if (!isAccumulator(kind))
    throw new MongoError('FailedToParse', `Unrecognized window function, ${kind}`);
  return parseAccumulator(kind, argument, scope);
}

function pairOf(argument: Bson, scope: Scope): Evaluate {
  if (!isArray(argument)) return scope.compile(argument);
  const parts = argument.map((sent) => scope.compile(sent));
  return (frame) => parts.map((part) => part(frame) ?? null);
}

export function accumulated(spec: AccumulatorSpec, frame: Frame): PartitionFunction {
  return (documents, window) => {
    const values = inputs(documents, spec.argument);
    if (frame.from === 'unbounded') return growing(spec.start([new Map()]), values, window);
    if (spec.slide !== undefined) return moving(spec.slide([new Map()]), values, window);
    return (at) => folded(spec, values, ...window(at));
  };
}

/** Frames that begin with the partition. The result is made again only where the frame has grown. */
function growing(accumulator: Accumulator, values: readonly Value[], window: Window): Column {
  let end = 0;
  let result: Value;
  return (at) => {
    const [, stop] = window(at);
    if (at === 0 || stop > end) {
      for (; end < stop; end++) accumulator.add(values[end]);
      result = copied(accumulator.result());
    }
    return result;
  };
}

export function moving(accumulator: Sliding, values: readonly Value[], window: Window): Column {
  let start = 0;
  let end = 0;
  return (at) => {
    const [from, stop] = window(at);
    if (at === 0) {
      start = from;
      end = from;
    }
    for (; end < stop; end++) accumulator.add(values[end]);
    for (; start < from; start++) accumulator.remove(values[start]);
    return accumulator.result();
  };
}

/** Accumulators go on with the lists and documents that they return. */
function copied(value: Value): Value {
  if (isArray(value)) return [...value];
  return isDocument(value) ? new Map(value) : value;
}

function folded(
  spec: AccumulatorSpec,
  values: readonly Value[],
  start: number,
  stop: number,
): Value {
  const accumulator = spec.start([new Map()]);
  for (let at = start; at < stop; at++) accumulator.add(values[at]);
  return accumulator.result();
}

function inputs(documents: readonly BsonDocument[], evaluate: Evaluate): Value[] {
  const frame: ValueFrame = [];
  return documents.map((document) => {
    frame[0] = document;
    return evaluate(frame);
  });
}
