/** The functions and aggregates of clients. They are part of their keyspace's policy. */
import type { ValueMap } from '../../../value/index.ts';
import { isList } from '../../../value/index.ts';
import type { Keyspace, Keyspaces } from '../schema/keyspaces.ts';
import { type CqlType, typeText } from '../types/cql-type.ts';
import { parseType } from '../types/parse-type.ts';

export interface UserFunction {
  readonly kind: 'function';
  readonly keyspace: string;
  readonly name: string;
  readonly argumentNames: readonly string[];
  readonly argumentTypes: readonly CqlType[];
  readonly returnType: CqlType;
  /** False: null for a null argument, without a call. */
  readonly calledOnNull: boolean;
  readonly language: string;
  readonly body: string;
}

export interface UserAggregate {
  readonly kind: 'aggregate';
  readonly keyspace: string;
  readonly name: string;
  readonly argumentTypes: readonly CqlType[];
  readonly stateFunction: UserFunction;
  readonly stateType: CqlType;
  readonly finalFunction: UserFunction | undefined;
  /** A literal of CQL, and its value as JSON; undefined: null. */
  readonly initial: { readonly text: string; readonly hex: string } | undefined;
  readonly returnType: CqlType;
}

export type UserRoutine = UserFunction | UserAggregate;

/** The routines of one version of a keyspace. */
interface Routines {
  readonly functions: readonly UserFunction[];
  readonly aggregates: readonly UserAggregate[];
}

export class UserFunctions {
  readonly #keyspaces: Keyspaces;
  readonly #parsed = new WeakMap<ValueMap, Routines>();

  constructor(keyspaces: Keyspaces) {
    this.#keyspaces = keyspaces;
  }

  of(keyspace: Keyspace): Routines {
    const policy = keyspace.database.policies?.cassandra as ValueMap;
    const known = this.#parsed.get(policy);
    if (known !== undefined) return known;
    const routines = parseRoutines(keyspace, policy);
    this.#parsed.set(policy, routines);
    return routines;
  }

  /** All of this name. */
  named(keyspaceName: string, name: string): readonly UserRoutine[] {
    const keyspace = this.#keyspaces.find(keyspaceName);
    if (keyspace === undefined) return [];
    const { functions, aggregates } = this.of(keyspace);
    return [...functions, ...aggregates].filter((routine) => routine.name === name);
  }

  /** @param types - texts of the arguments' types. */
  hasSignature(keyspace: string, name: string, types: readonly string[]): boolean {
    return this.named(keyspace, name).some((one) => typesText(one) === types.join(', '));
  }
}

export function typesText({ argumentTypes }: Pick<UserRoutine, 'argumentTypes'>): string {
  return argumentTypes.map(typeText).join(', ');
}

/** As messages and resources name it: `name(int, text)`. */
export function signatureOf(routine: Pick<UserRoutine, 'name' | 'argumentTypes'>): string {
  return `${routine.name}(${typesText(routine)})`;
}

function parseRoutines(keyspace: Keyspace, policy: ValueMap): Routines {
  const listOf = (value: unknown) =>
    (isList(value as never) ? value : []) as readonly Readonly<Record<string, never>>[];
  const typeOf = (text: unknown): CqlType => parseType(String(text), keyspace.types);
  const functions = listOf(policy.functions).map((stored): UserFunction => {
    const { name, argumentNames, argumentTypes, returnType, calledOnNull, language, body } = stored;
    return {
      kind: 'function',
      keyspace: keyspace.name,
      name: String(name),
      argumentNames: argumentNames as unknown as readonly string[],
      argumentTypes: (argumentTypes as unknown as readonly string[]).map(typeOf),
      returnType: typeOf(returnType),
      calledOnNull: calledOnNull === true,
      language: String(language),
      body: String(body),
    };
  });
  const find = (name: string, types: string): UserFunction | undefined =>
    functions.find((one) => one.name === name && typesText(one) === types);
  const aggregates = listOf(policy.aggregates).flatMap((stored): readonly UserAggregate[] => {
    const argumentTypes = (stored.argumentTypes as unknown as readonly string[]).map(typeOf);
    const stateType = typeOf(stored.stateType);
    const stateFunction = find(
      String(stored.stateFunction),
      [stateType, ...argumentTypes].map(typeText).join(', '),
    );
    if (stateFunction === undefined) return [];
    const finalName = stored.finalFunction as string | undefined;
    const finalFunction =
      finalName === undefined || finalName === null
        ? undefined
        : find(String(finalName), typeText(stateType));
    const initial = stored.initial as unknown as UserAggregate['initial'] | null;
    return [
      {
        kind: 'aggregate',
        keyspace: keyspace.name,
        name: String(stored.name),
        argumentTypes,
        stateFunction,
        stateType,
        finalFunction,
        initial: initial ?? undefined,
        returnType: finalFunction?.returnType ?? stateType,
      },
    ];
  });
  return { functions, aggregates };
}

/** The stored form of both, for the policy of their keyspace. */
export function routinesValue({ functions, aggregates }: Routines): ValueMap {
  return {
    functions: functions.map(
      ({ name, argumentNames, argumentTypes, returnType, calledOnNull, language, body }) => ({
        name,
        argumentNames,
        argumentTypes: argumentTypes.map(typeText),
        returnType: typeText(returnType),
        calledOnNull,
        language,
        body,
      }),
    ),
    aggregates: aggregates.map((one) => ({
      name: one.name,
      argumentTypes: one.argumentTypes.map(typeText),
      stateFunction: one.stateFunction.name,
      stateType: typeText(one.stateType),
      finalFunction: one.finalFunction?.name ?? null,
      initial: one.initial ?? null,
    })),
  };
}
