/** Distances between vectors, computed exactly. An index may find candidates; this is what ranks them. */
import { spend } from '../../../../base/index.ts';
import { isList, isMap, type Value } from '../../../../value/index.ts';
import { type DistanceFunction, define, finite, type SystemFunction } from './function.ts';

/** VectorDistance(a, b [, bruteForce [, options]]) with the distance function of options or policy. */
export function vectorDistanceFunction(name: string, policy: DistanceFunction): SystemFunction {
  return define(name, [2, 4], (left, right, isBruteForce = false, options = {}) => {
    if (typeof isBruteForce !== 'boolean' || !isMap(options)) return undefined;
    const kind = distanceFunctionOf(options.distanceFunction) ?? policy;
    return vectorDistance(left, right, kind);
  });
}

/** Names are compared without case: policies have `dotproduct`, queries also `DotProduct`. */
export function distanceFunctionOf(name: Value): DistanceFunction | undefined {
  const folded = typeof name === 'string' ? name.toLowerCase() : undefined;
  return folded === 'cosine' || folded === 'euclidean' || folded === 'dotproduct'
    ? folded
    : undefined;
}

/** Cosine similarity, Euclidean distance or dot product; undefined unless both are vectors of one length. */
function vectorDistance(left: Value, right: Value, kind: DistanceFunction): Value {
  if (!isVector(left) || !isVector(right) || left.length !== right.length) return undefined;
  spend(left.length);
  let dot = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  let differenceSquares = 0;
  for (let at = 0; at < left.length; at++) {
    const x = left[at] as number;
    const y = right[at] as number;
    dot += x * y;
    leftSquares += x * x;
    rightSquares += y * y;
    differenceSquares += (x - y) * (x - y);
  }
  if (kind === 'euclidean') return finite(Math.sqrt(differenceSquares));
  if (kind === 'dotproduct') return finite(dot);
  return finite(dot / Math.sqrt(leftSquares * rightSquares));
}

/** True where a smaller number means nearer. */
export function isNearestFirst(kind: DistanceFunction): boolean {
  return kind === 'euclidean';
}

function isVector(value: Value): value is readonly number[] {
  return isList(value) && value.length > 0 && value.every((item) => typeof item === 'number');
}
