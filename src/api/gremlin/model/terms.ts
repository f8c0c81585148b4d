/** What a traversal is made of besides data: instructions, predicates, names of enumerations, strategies. */
import type { GremlinValue } from './value.ts';

/** A name of an enumeration, such as T.id or Order.desc. */
export class EnumValue {
  readonly type: string;
  readonly name: string;

  constructor(type: string, name: string) {
    this.type = type;
    this.name = name;
  }
}

export interface Instruction {
  readonly name: string;
  readonly args: readonly GremlinValue[];
}

/** A traversal as scripts and bytecode both name it: instructions of the source, then steps. */
export class Bytecode {
  readonly sources: readonly Instruction[];
  readonly steps: readonly Instruction[];

  constructor(sources: readonly Instruction[], steps: readonly Instruction[]) {
    this.sources = sources;
    this.steps = steps;
  }
}

/** A test of a value: P.gt(5), TextP.containing('x'). `and` and `or` have two predicates, `not` has one. */
export class Predicate {
  readonly name: string;
  readonly values: readonly GremlinValue[];

  constructor(name: string, values: readonly GremlinValue[]) {
    this.name = name;
    this.values = values;
  }
}

export class Strategy {
  /** The simple name of its class. */
  readonly name: string;
  readonly settings: ReadonlyMap<string, GremlinValue>;

  constructor(name: string, settings: ReadonlyMap<string, GremlinValue>) {
    this.name = name;
    this.settings = settings;
  }
}

/** Source text that a client wants to run inside the server, which this server refuses. */
export class Lambda {
  readonly script: string;

  constructor(script: string) {
    this.script = script;
  }
}

/** A result with the number of times that it occurs. */
export class BulkedResult {
  readonly value: GremlinValue;
  readonly bulk: number;

  constructor(value: GremlinValue, bulk: number) {
    this.value = value;
    this.bulk = bulk;
  }
}
