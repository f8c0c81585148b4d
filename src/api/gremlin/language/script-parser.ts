/**
 * Reads scripts: one or more traversals that begin with a source, with variables from the request. There is no Groovy
 * here: what is read is the language of traversals and its literals.
 */
import { compileError, syntaxError } from '../errors.ts';
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { calculate, isNumber, numberOf, toDouble } from '../model/number.ts';
import { Bytecode, EnumValue, type Instruction, Predicate, Strategy } from '../model/terms.ts';
import { type GremlinValue, Uuid } from '../model/value.ts';
import { type Token, tokenize } from './lexer.ts';
import { enumerationOf, isEnumeration, optionConstant, PREDICATES } from './names.ts';

export interface Statement {
  /** A traversal, or a constant. */
  readonly value: GremlinValue;
  /** The name before the first dot; undefined for a constant. */
  readonly source: string | undefined;
  /** The call that ends it, such as next or toList, with its arguments. */
  readonly terminal: Instruction | undefined;
}

/** Nesting of calls, lists and maps. Deeper texts would overflow the stack. */
const NESTING_MAX = 200;

const TERMINALS: ReadonlySet<string> = new Set([
  'next',
  'toList',
  'toSet',
  'toBulkSet',
  'iterate',
  'hasNext',
  'tryNext',
  'explain',
]);

/** Methods of a source that configure it; all others begin a traversal. */
const SOURCE_METHODS: ReadonlySet<string> = new Set([
  'with',
  'withBulk',
  'withComputer',
  'withPath',
  'withSack',
  'withSideEffect',
  'withStrategies',
  'withoutStrategies',
  'tx',
]);

/** The statements of a script, in order. */
export function parseScript(
  script: string,
  variables: ReadonlyMap<string, GremlinValue>,
): Statement[] {
  return new ScriptParser(tokenize(script), variables).statements();
}

class ScriptParser {
  readonly #tokens: readonly Token[];
  readonly #variables: ReadonlyMap<string, GremlinValue>;
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], variables: ReadonlyMap<string, GremlinValue>) {
    this.#tokens = tokens;
    this.#variables = variables;
  }

  statements(): Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      while (this.#takeSign(';') || this.#takeSign('\n'));
      if (this.#peek().kind === 'end') return statements;
      statements.push(this.#statement());
      const { kind, at } = this.#peek();
      if (kind !== 'end' && !this.#isSign(';') && !this.#isSign('\n')) throw this.#unexpected(at);
    }
  }

  #statement(): Statement {
    const first = this.#peek();
    const isSource =
      first.kind === 'name' &&
      !this.#variables.has(first.text) &&
      this.#isSign('.', 1) &&
      !isClassName(first.text);
    if (!isSource) return { value: this.#sum(), source: undefined, terminal: undefined };
    this.#at++;
    const sources: Instruction[] = [];
    const steps: Instruction[] = [];
    let terminal: Instruction | undefined;
    while (this.#takeDot()) {
      if (terminal !== undefined) throw this.#unexpected();
      const call = this.#call(this.#name());
      if (TERMINALS.has(call.name) && steps.length > 0) terminal = call;
      else if (steps.length === 0 && SOURCE_METHODS.has(call.name)) sources.push(call);
      else steps.push(call);
    }
    return { value: new Bytecode(sources, steps), source: first.text, terminal };
  }

  /** Constants with + and -, as clients send them to see whether the server is alive. */
  #sum(): GremlinValue {
    let value = this.#argument();
    for (;;) {
      const isMinus = this.#isSign('-');
      if (!isMinus && !this.#isSign('+')) return value;
      this.#at++;
      const next = this.#argument();
      if (!isNumber(value) || !isNumber(next)) throw this.#unexpected();
      value = calculate('add', value, isMinus ? calculate('multiply', next, -1) : next);
    }
  }

  /** The arguments of a call whose name has been read. */
  #call(name: string): Instruction {
    this.#expect('(');
    return { name, args: this.#list(')') };
  }

  #list(closing: string): GremlinValue[] {
    this.#enter();
    const values: GremlinValue[] = [];
    this.#skipLines();
    if (!this.#takeSign(closing))
      do {
        values.push(this.#argument());
        this.#skipLines();
      } while (this.#next(closing));
    this.#depth--;
    return values;
  }

  /** Reads the separator; false at the end of the list. */
  #next(closing: string): boolean {
    if (this.#takeSign(closing)) return false;
    this.#expect(',');
    return true;
  }

  #argument(): GremlinValue {
    this.#skipLines();
    const token = this.#peek();
    this.#at++;
    switch (token.kind) {
      case 'text':
        return token.text;
      case 'number':
        return token.value;
      case 'name':
        return this.#named(token.text, token.at);
      case 'sign':
        if (token.text === '[') return this.#listOrMap();
        if (token.text === '{') return this.#set();
        if (token.text === '-' || token.text === '+') return this.#signed(token.text === '-');
        if (token.text === '(') {
          const value = this.#argument();
          this.#expect(')');
          return value;
        }
    }
    throw this.#unexpected(token.at);
  }

  #signed(isNegative: boolean): GremlinValue {
    const value = this.#argument();
    if (!isNumber(value)) throw this.#unexpected();
    return isNegative ? calculate('multiply', value, numberOf('int', -1)) : value;
  }

  #named(name: string, at: number): GremlinValue {
    const variable = this.#variables.get(name);
    if (variable !== undefined && !this.#isSign('(')) return variable;
    if (name === 'new') return this.#newStrategy(this.#name());
    if (CONSTANTS.has(name)) return CONSTANTS.get(name) as GremlinValue;
    if (name.endsWith('Strategy') && this.#isSign('(')) return this.#newStrategy(name);
    if (this.#isSign('(')) return this.#function(name);
    if (name === '__') return this.#anonymous();
    if (name.endsWith('Strategy')) return this.#strategy(name);
    if (this.#isSign('.') && isClassName(name)) return this.#member(name);
    // The service's samples begin nested traversals with the source: to(g.V('b')).
    if (this.#isSign('.') && enumerationOf(name) === undefined) return this.#anonymous();
    const type = enumerationOf(name);
    if (type !== undefined) return new EnumValue(type, name);
    throw compileError(`Unable to find any variable or name '${name}' at position ${at}.`);
  }

  /** A call without a prefix: a predicate, a value, or the first step of a nested traversal. */
  #function(name: string): GremlinValue {
    if (PREDICATES.has(name)) return this.#predicate(name);
    const call = this.#call(name);
    const [first] = call.args;
    switch (name) {
      case 'single':
      case 'list':
      case 'set':
        return new Bytecode(
          [],
          [
            {
              name: 'CardinalityValueTraversal',
              args: [new EnumValue('Cardinality', name), ...call.args],
            },
          ],
        );
      case 'not':
        if (first instanceof Predicate) return this.#combined(new Predicate('not', call.args));
        break;
      case 'datetime':
      case 'DateTime':
        return readDate(first);
      case 'UUID':
        return readUuid(first);
    }
    return this.#chain([call]);
  }

  #predicate(name: string): GremlinValue {
    const { args } = this.#call(name);
    const isListed = (name === 'within' || name === 'without') && args.length === 1;
    const [only] = args;
    const values =
      isListed && Array.isArray(only)
        ? only
        : isListed && only instanceof GremlinSet
          ? [...only]
          : args;
    return this.#combined(new Predicate(name, values));
  }

  /** `.and(…)`, `.or(…)` and `.negate()` behind a predicate. */
  #combined(left: Predicate): Predicate {
    let predicate = left;
    while (this.#takeDot()) {
      const { name, args } = this.#call(this.#name());
      if (name === 'negate' && args.length === 0) predicate = new Predicate('not', [predicate]);
      else if ((name === 'and' || name === 'or') && args[0] instanceof Predicate)
        predicate = new Predicate(name, [predicate, args[0]]);
      else throw this.#unexpected();
    }
    return predicate;
  }

  #anonymous(): Bytecode {
    if (!this.#takeDot()) return new Bytecode([], []);
    return this.#chain([this.#call(this.#name())]);
  }

  #chain(steps: Instruction[]): Bytecode {
    while (this.#takeDot()) steps.push(this.#call(this.#name()));
    return new Bytecode([], steps);
  }

  /** `T.id`, `P.gt(5)`, `Order.desc`, `VertexProperty.Cardinality.list`. */
  #member(type: string): GremlinValue {
    this.#expect('.');
    const name = this.#name();
    if (type === 'VertexProperty' && name === 'Cardinality') return this.#member(name);
    if (type === 'P' || type === 'TextP') {
      if (name !== 'not') return this.#predicate(name);
      return this.#combined(new Predicate('not', this.#call(name).args));
    }
    if (type === 'UUID' && name === 'fromString') return readUuid(this.#call(name).args[0]);
    const option = optionConstant(type, name);
    if (option !== undefined) return option;
    if (type === 'Cardinality' && this.#isSign('(')) return this.#cardinalValue(name);
    if (!isEnumeration(type, name)) throw compileError(`There is no ${type}.${name}.`);
    return new EnumValue(type, name);
  }

  /** `Cardinality.list(5)`: a value with the cardinality of its property. */
  #cardinalValue(cardinality: string): Bytecode {
    const { args } = this.#call(cardinality);
    const name = 'CardinalityValueTraversal';
    return new Bytecode([], [{ name, args: [new EnumValue('Cardinality', cardinality), ...args] }]);
  }

  /** `ReadOnlyStrategy`, `ReadOnlyStrategy.instance()`, or the service's `PartitionStrategy.build().….create()`. */
  #strategy(name: string): Strategy {
    const settings = new Map<string, GremlinValue>();
    while (this.#takeDot()) {
      const call = this.#call(this.#name());
      if (['build', 'create', 'instance'].includes(call.name)) continue;
      settings.set(call.name, call.args.length === 1 ? (call.args[0] as GremlinValue) : call.args);
    }
    return new Strategy(name, settings);
  }

  /** `new PartitionStrategy(partitionKey: 'pk', readPartitions: ['a'])`. */
  #newStrategy(name: string): Strategy {
    const settings = new Map<string, GremlinValue>();
    if (!this.#takeSign('(')) return new Strategy(name, settings);
    this.#skipLines();
    if (!this.#takeSign(')'))
      do {
        this.#skipLines();
        const key = this.#name();
        this.#expect(':');
        settings.set(key, this.#argument());
        this.#skipLines();
      } while (this.#next(')'));
    return new Strategy(name, settings);
  }

  #listOrMap(): GremlinValue {
    this.#skipLines();
    if (this.#isSign(':') && this.#isSign(']', 1)) {
      this.#at += 2;
      return new GremlinMap();
    }
    if (this.#takeSign(']')) return [];
    this.#enter();
    const map = new GremlinMap();
    const list: GremlinValue[] = [];
    do {
      const key = this.#key();
      if (key !== undefined) map.set(key, this.#argument());
      else list.push(this.#argument());
      this.#skipLines();
    } while (this.#next(']'));
    this.#depth--;
    if (map.size > 0 && list.length > 0) throw this.#unexpected();
    return map.size > 0 ? map : list;
  }

  /** The key of a map entry with its colon; undefined in a list. A bare name is a text; one in brackets is evaluated. */
  #key(): GremlinValue | undefined {
    this.#skipLines();
    const from = this.#at;
    const token = this.#peek();
    let key: GremlinValue | undefined;
    if (token.kind === 'name' && this.#isSign(':', 1)) {
      this.#at++;
      key = token.text;
    } else key = this.#argument();
    this.#skipLines();
    if (this.#takeSign(':')) return key;
    this.#at = from;
    return undefined;
  }

  #set(): GremlinSet {
    return new GremlinSet(this.#list('}'));
  }

  #name(): string {
    this.#skipLines();
    const token = this.#peek();
    if (token.kind !== 'name') throw this.#unexpected(token.at);
    this.#at++;
    return token.text;
  }

  #enter(): void {
    if (++this.#depth > NESTING_MAX) throw syntaxError('The script is nested too deeply.');
  }

  /** A dot may begin a new line. */
  #takeDot(): boolean {
    const from = this.#at;
    this.#skipLines();
    if (this.#takeSign('.')) return true;
    this.#at = from;
    return false;
  }

  #skipLines(): void {
    while (this.#isSign('\n')) this.#at++;
  }

  #peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? (this.#tokens.at(-1) as Token);
  }

  #isSign(text: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token.kind === 'sign' && token.text === text;
  }

  #takeSign(text: string): boolean {
    if (!this.#isSign(text)) return false;
    this.#at++;
    return true;
  }

  #expect(text: string): void {
    this.#skipLines();
    if (!this.#takeSign(text)) throw this.#unexpected();
  }

  #unexpected(at: number = this.#peek().at): Error {
    const token = this.#tokens.find((candidate) => candidate.at === at) ?? this.#peek();
    const what =
      token.kind === 'end'
        ? 'end of the script'
        : token.kind === 'number'
          ? `number ${toDouble(token.value)}`
          : `'${token.text === '\n' ? 'end of line' : token.text}'`;
    return syntaxError(`Unexpected ${what} at position ${at}.`);
  }
}

const CONSTANTS: ReadonlyMap<string, GremlinValue> = new Map<string, GremlinValue>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
]);

function isClassName(name: string): boolean {
  return /^[A-Z]/.test(name) || name === '__';
}

function readDate(text: GremlinValue | undefined): Date {
  const date = new Date(typeof text === 'string' ? text : Number.NaN);
  if (Number.isNaN(date.getTime())) throw compileError(`${String(text)} is not a date and time.`);
  return date;
}

function readUuid(text: GremlinValue | undefined): Uuid {
  if (typeof text !== 'string' || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw compileError(`${String(text)} is not a UUID.`);
  return new Uuid(text);
}
