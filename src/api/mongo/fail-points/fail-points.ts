/**
 * Fail points: test suites of drivers make commands fail on purpose. They are there only where the operator allows
 * test commands.
 */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import { doubleOf, isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';

/** What happens to one command. */
interface Failure {
  readonly closesConnection: boolean;
  readonly blockMs: number;
  readonly errorCode: number | undefined;
  /** Undefined: the server's own labels. */
  readonly labels: readonly string[] | undefined;
  readonly writeConcernError: BsonDocument | undefined;
}

interface Matched {
  readonly command: string;
  readonly appName: string;
  readonly namespace: string;
}

interface FailPoint {
  readonly data: BsonDocument;
  /** Undefined: always on. */
  timesLeft: number | undefined;
  skipsLeft: number;
  readonly probability: number;
  timesEntered: number;
}

const GET_MORE = 'failGetMoreAfterCursorCheckout';
const DEFAULT_GET_MORE_CODE = 237;
const TRANSACTIONAL = 'onPrimaryTransactionalWrite';

interface WriteFailurePlan {
  /** Refuses the write with this code; undefined: it is applied, and the reply is lost. */
  readonly code: number | undefined;
  readonly closesConnection: boolean;
}

/** The names that suites of drivers set. Only the first four do something. */
const NAMES: ReadonlySet<string> = new Set([
  'failCommand',
  'failGetMoreAfterCursorCheckout',
  'maxTimeAlwaysTimeOut',
  'onPrimaryTransactionalWrite',
  'failReceivedGetmore',
  'maxTimeNeverTimeOut',
]);

/** Commands that a fail point never touches, or nobody could turn it off. */
const UNTOUCHED: ReadonlySet<string> = new Set(['configureFailPoint']);

export class FailPoints {
  readonly #points = new Map<string, FailPoint>();

  /** How often the fail point was met before. */
  configure(name: string, mode: Bson | undefined, data: BsonDocument): number {
    if (!NAMES.has(name)) throw new MongoError('BadValue', `failpoint not found: ${name}`);
    const before = this.#points.get(name)?.timesEntered ?? 0;
    if (mode === 'off') this.#points.delete(name);
    else this.#points.set(name, { data, ...parseMode(mode), timesEntered: before });
    return before;
  }

  isOn(name: string): boolean {
    return this.#points.has(name) && this.#takes(this.#points.get(name) as FailPoint);
  }

  /** The code with which reading on from a cursor fails. */
  getMoreFailure(): number | undefined {
    const data = this.#points.get(GET_MORE)?.data;
    if (data === undefined || !this.isOn(GET_MORE)) return undefined;
    return wholeNumber(data.get('errorCode')) ?? DEFAULT_GET_MORE_CODE;
  }

  /** What happens to a write that may be sent again, or to a statement of a transaction. */
  writeFailure(): WriteFailurePlan | undefined {
    const data = this.#points.get(TRANSACTIONAL)?.data;
    if (data === undefined) return undefined;
    return {
      code: wholeNumber(data.get('failBeforeCommitExceptionCode')),
      closesConnection: data.get('closeConnection') !== false,
    };
  }

  failureOf(call: Matched): Failure | undefined {
    const point = this.#points.get('failCommand');
    if (point === undefined || UNTOUCHED.has(call.command) || !names(point.data, call))
      return undefined;
    return this.#takes(point) ? failureIn(point.data) : undefined;
  }

  #takes(point: FailPoint): boolean {
    if (point.skipsLeft > 0) {
      point.skipsLeft -= 1;
      return false;
    }
    if (point.timesLeft === 0 || Math.random() >= point.probability) return false;
    if (point.timesLeft !== undefined) point.timesLeft -= 1;
    point.timesEntered += 1;
    return true;
  }
}

function parseMode(
  mode: Bson | undefined,
): Pick<FailPoint, 'timesLeft' | 'skipsLeft' | 'probability'> {
  if (mode === 'alwaysOn') return { timesLeft: undefined, skipsLeft: 0, probability: 1 };
  if (isDocument(mode)) {
    const times = wholeNumber(mode.get('times'));
    if (times !== undefined) return { timesLeft: times, skipsLeft: 0, probability: 1 };
    const skip = wholeNumber(mode.get('skip'));
    if (skip !== undefined) return { timesLeft: undefined, skipsLeft: skip, probability: 1 };
    const probability = mode.get('activationProbability');
    if (probability !== undefined && isNumber(probability))
      return { timesLeft: undefined, skipsLeft: 0, probability: doubleOf(probability) };
  }
  throw new MongoError('BadValue', "'mode' must be a string or JSON object");
}

function names(data: BsonDocument, { command, appName, namespace }: Matched): boolean {
  const wanted = data.get('appName');
  if (typeof wanted === 'string' && wanted !== appName) return false;
  const place = data.get('namespace');
  if (typeof place === 'string' && place !== namespace) return false;
  if (data.get('failAllCommands') === true) return true;
  const commands = data.get('failCommands');
  return isArray(commands) && commands.some((name) => name === command || isAlias(name, command));
}

function isAlias(name: Bson, command: string): boolean {
  return typeof name === 'string' && name.toLowerCase() === command.toLowerCase();
}

function failureIn(data: BsonDocument): Failure {
  const labels = data.get('errorLabels');
  const concern = data.get('writeConcernError');
  return {
    closesConnection: data.get('closeConnection') === true,
    blockMs: data.get('blockConnection') === true ? (wholeNumber(data.get('blockTimeMS')) ?? 0) : 0,
    errorCode: wholeNumber(data.get('errorCode')),
    labels: isArray(labels) ? labels.map(String) : undefined,
    writeConcernError: isDocument(concern) ? concern : undefined,
  };
}
