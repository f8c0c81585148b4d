/** The plans of CREATE and DROP of functions and aggregates. */
import type { ValueMap } from '../../../value/index.ts';
import { CqlError, invalid } from '../errors.ts';
import { FUNCTION_CHARACTERS_MAX, ROUTINES_MAX } from '../limits.ts';
import { functionResource, resourceName } from '../roles/resource.ts';
import { grantToCreator } from '../roles/role-plan.ts';
import type { Keyspace } from '../schema/keyspaces.ts';
import { type Call, type Plan, type Result, type SchemaChange, VOID } from '../statements/plan.ts';
import { schemaChange, userKeyspace } from '../statements/schema-statements.ts';
import type { Scope } from '../statements/scope.ts';
import { type CqlType, typeText } from '../types/cql-type.ts';
import { parseType } from '../types/parse-type.ts';
import type { FunctionStatement } from './function-ast.ts';
import { sourceOf } from './function-script.ts';
import { initialOf } from './initial-state.ts';
import {
  routinesValue,
  signatureOf,
  typesText,
  type UserAggregate,
  type UserFunction,
  type UserRoutine,
} from './user-functions.ts';

type Of<K extends FunctionStatement['kind']> = Extract<FunctionStatement, { kind: K }>;

export function functionPlan(statement: FunctionStatement, scope: Scope): Plan {
  const keyspaceName = scope.keyspaceOf(statement.name);
  return schemaChange(statement.kind, (call) => {
    const keyspace = userKeyspace(keyspaceName, call.environment);
    switch (statement.kind) {
      case 'createFunction':
        return createFunction(statement, keyspace, call);
      case 'createAggregate':
        return createAggregate(statement, keyspace, scope, call);
      default:
        return drop(statement, keyspace, call);
    }
  });
}

async function createFunction(
  statement: Of<'createFunction'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  const {
    name: { name },
    replaces,
    ifNotExists,
    language,
    body,
  } = statement;
  checkFlags(statement);
  const argumentNames = statement.arguments.map(([argument]) => argument);
  if (new Set(argumentNames).size < argumentNames.length)
    throw invalid(
      `Duplicate argument names for given function ${name} with argument names [${argumentNames.join(', ')}]`,
    );
  if (body.length > FUNCTION_CHARACTERS_MAX)
    throw invalid(`The body of a function has at most ${FUNCTION_CHARACTERS_MAX} characters`);
  const created: UserFunction = {
    kind: 'function',
    keyspace: keyspace.name,
    name,
    argumentNames,
    argumentTypes: statement.arguments.map(([, text]) => plainType(text, keyspace, 'Argument')),
    returnType: plainType(statement.returnType, keyspace, 'Return type'),
    calledOnNull: statement.calledOnNull,
    language: language.toLowerCase(),
    body,
  };
  if (!['javascript', 'java'].includes(created.language))
    throw invalid(
      `Invalid language ${language} for function ${keyspace.name}.${name}: it must be javascript, or java with a simple expression`,
    );
  await checkBody(created, call);
  const { functions, aggregates } = call.environment.functions.of(keyspace);
  const before = sameSignature([...functions, ...aggregates], created);
  if (before?.kind === 'aggregate') throw invalid(`Function '${name}' cannot replace an aggregate`);
  if (before !== undefined) {
    if (ifNotExists) return VOID;
    if (!replaces) throw invalid(`Function '${name}' already exists`);
    checkReplacement(before, created);
  }
  const others = functions.filter((one) => one !== before);
  await keep(keyspace, [...others, created], aggregates, call);
  if (before === undefined)
    await grantToCreator(call, functionResource(keyspace.name, signatureOf(created)));
  return changed(before === undefined ? 'CREATED' : 'UPDATED', created);
}

function checkFlags({ replaces, ifNotExists }: Of<'createFunction' | 'createAggregate'>): void {
  if (replaces && ifNotExists)
    throw invalid("Cannot use both 'OR REPLACE' and 'IF NOT EXISTS' directives");
}

function checkReplacement(before: UserFunction, created: UserFunction): void {
  const { name } = created;
  if (before.calledOnNull && !created.calledOnNull)
    throw invalid(`Function '${name}' must have CALLED ON NULL INPUT directive`);
  if (!before.calledOnNull && created.calledOnNull)
    throw invalid(`Function '${name}' must have RETURNS NULL ON NULL INPUT directive`);
  if (typeText(before.returnType) !== typeText(created.returnType))
    throw invalid(
      `Cannot replace function '${name}', the new return type ${typeText(created.returnType)} is not compatible with the return type ${typeText(before.returnType)} of existing function`,
    );
}

/** The sandbox must take the script; nothing of it runs. */
async function checkBody(created: UserFunction, { environment }: Call): Promise<void> {
  const realm = environment.service.scripts.functions([{ ...sourceOf(created), name: 'f' }]);
  try {
    await realm.run([]);
  } catch (error) {
    if (error instanceof CqlError) throw error;
    throw invalid(
      `Failed to compile function '${created.keyspace}.${created.name}' for language ${created.language}: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    realm.forget();
  }
}

async function createAggregate(
  statement: Of<'createAggregate'>,
  keyspace: Keyspace,
  scope: Scope,
  call: Call,
): Promise<Result> {
  const {
    name: { name },
    replaces,
    ifNotExists,
  } = statement;
  checkFlags(statement);
  const { functions, aggregates } = call.environment.functions.of(keyspace);
  const created = aggregateOf(statement, keyspace, functions, scope, call);
  const before = sameSignature([...functions, ...aggregates], created);
  if (before?.kind === 'function') throw invalid(`Aggregate '${name}' cannot replace a function`);
  if (before !== undefined) {
    if (ifNotExists) return VOID;
    if (!replaces) throw invalid(`Aggregate '${name}' already exists`);
    if (typeText(before.returnType) !== typeText(created.returnType))
      throw invalid(
        `Cannot replace aggregate '${name}', the new return type ${typeText(created.returnType)} isn't compatible with the return type ${typeText(before.returnType)} of existing function`,
      );
  }
  const others = aggregates.filter((one) => one !== before);
  await keep(keyspace, functions, [...others, created], call);
  if (before === undefined)
    await grantToCreator(call, functionResource(keyspace.name, signatureOf(created)));
  return changed(before === undefined ? 'CREATED' : 'UPDATED', created);
}

function aggregateOf(
  statement: Of<'createAggregate'>,
  keyspace: Keyspace,
  functions: readonly UserFunction[],
  scope: Scope,
  call: Call,
): UserAggregate {
  const {
    name: { name },
    stateFunction: stateName,
    finalFunction: finalName,
  } = statement;
  const argumentTypes = statement.argumentTypes.map((text) =>
    plainType(text, keyspace, 'Argument'),
  );
  const stateType = plainType(statement.stateType, keyspace, 'State type');
  const stateTypes = [stateType, ...argumentTypes].map(typeText).join(', ');
  const find = (wanted: string, types: string) =>
    functions.find((one) => one.name === wanted && typesText(one) === types);
  const stateText = `${stateName}(${stateTypes})`;
  const stateFunction = find(stateName, stateTypes);
  if (stateFunction === undefined) throw invalid(`State function ${stateText} doesn't exist`);
  if (typeText(stateFunction.returnType) !== typeText(stateType))
    throw invalid(
      `State function ${stateText} return type must be the same as the first argument type - check STYPE, argument and return types`,
    );
  const finalFunction = finalName === undefined ? undefined : find(finalName, typeText(stateType));
  if (finalName !== undefined && finalFunction === undefined)
    throw invalid(`Final function ${finalName}(${typeText(stateType)}) doesn't exist`);
  const initial = initialOf(statement.initial, stateType, scope, call);
  if (initial === undefined && !stateFunction.calledOnNull)
    throw invalid(
      `Cannot create aggregate '${name}' without INITCOND because state function ${stateName} does not accept 'null' arguments`,
    );
  return {
    kind: 'aggregate',
    keyspace: keyspace.name,
    name,
    argumentTypes,
    stateFunction,
    stateType,
    finalFunction,
    initial,
    returnType: finalFunction?.returnType ?? stateType,
  };
}

async function drop(
  statement: Of<'dropFunction' | 'dropAggregate'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  const {
    name: { name },
    ifExists,
  } = statement;
  const isFunction = statement.kind === 'dropFunction';
  const what = isFunction ? 'Function' : 'Aggregate';
  const { functions, aggregates } = call.environment.functions.of(keyspace);
  const types = statement.argumentTypes
    ?.map((text) => typeText(plainType(text, keyspace, 'Argument')))
    .join(', ');
  const label = `${keyspace.name}.${name}${types === undefined ? '' : `(${types})`}`;
  const candidates = (isFunction ? functions : aggregates).filter(
    (one) => one.name === name && (types === undefined || typesText(one) === types),
  );
  const [found] = candidates;
  if (found === undefined) {
    if (ifExists) return VOID;
    throw invalid(`${what} '${label}' doesn't exist`);
  }
  if (candidates.length > 1)
    throw invalid(
      `'DROP ${what.toUpperCase()} ${label}' matches multiple function definitions; specify the argument types by issuing a statement like 'DROP ${what.toUpperCase()} ${label} (type, type, ...)'. You can use cqlsh 'DESCRIBE ${what.toUpperCase()} ${label}' command to find all overloads`,
    );
  const users = aggregates.filter(
    ({ stateFunction, finalFunction }) => stateFunction === found || finalFunction === found,
  );
  if (users.length > 0)
    throw invalid(
      `Function '${label}' is still referenced by aggregates ${users.map((one) => one.name).join(', ')}`,
    );
  await keep(
    keyspace,
    functions.filter((one) => one !== found),
    aggregates.filter((one) => one !== found),
    call,
  );
  const resource = functionResource(keyspace.name, signatureOf(found));
  await call.environment.roles.forget(resourceName(resource));
  return changed('DROPPED', found);
}

/** A type that is not frozen outside: arguments and results always are values as a whole. */
function plainType(text: string, keyspace: Keyspace, what: string): CqlType {
  if (/^\s*frozen\b/i.test(text))
    throw invalid(`${what} '${text}' cannot be frozen; remove frozen<> modifier from '${text}'`);
  return parseType(text, keyspace.types);
}

function sameSignature<T extends UserRoutine>(
  routines: readonly T[],
  created: UserRoutine,
): T | undefined {
  return routines.find((one) => signatureOf(one) === signatureOf(created));
}

async function keep(
  { database }: Keyspace,
  functions: readonly UserFunction[],
  aggregates: readonly UserAggregate[],
  { environment }: Call,
): Promise<void> {
  if (functions.length + aggregates.length > ROUTINES_MAX)
    throw invalid(`A keyspace has at most ${ROUTINES_MAX} functions and aggregates`);
  const policy = database.policies?.cassandra as ValueMap;
  await environment.service.databases.setPolicies(database.rid, {
    ...database.policies,
    cassandra: { ...policy, ...routinesValue({ functions, aggregates }) },
  });
}

function changed(change: SchemaChange['change'], routine: UserRoutine): Result {
  return {
    kind: 'schemaChange',
    change: {
      change,
      target: routine.kind === 'function' ? 'FUNCTION' : 'AGGREGATE',
      keyspace: routine.keyspace,
      name: routine.name,
      argumentTypes: routine.argumentTypes.map(typeText),
    },
  };
}
