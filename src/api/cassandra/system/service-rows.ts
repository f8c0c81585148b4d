/** Rows of system tables about functions, roles, clients and settings. */
import type { ClientDescription } from '../connection.ts';
import type { UserFunctions } from '../functions/user-functions.ts';
import type { RoleStore } from '../roles/role-store.ts';
import type { Keyspace } from '../schema/keyspaces.ts';
import { typeText } from '../types/cql-type.ts';
import type { SystemRow } from './system-tables.ts';

export function functionRows(keyspace: Keyspace, store: UserFunctions): readonly SystemRow[] {
  return store.of(keyspace).functions.map((one) => ({
    keyspace_name: one.keyspace,
    function_name: one.name,
    argument_types: one.argumentTypes.map(typeText),
    argument_names: one.argumentNames,
    body: one.body,
    called_on_null_input: one.calledOnNull,
    language: one.language,
    return_type: typeText(one.returnType),
  }));
}

export function aggregateRows(keyspace: Keyspace, store: UserFunctions): readonly SystemRow[] {
  return store.of(keyspace).aggregates.map((one) => ({
    keyspace_name: one.keyspace,
    aggregate_name: one.name,
    argument_types: one.argumentTypes.map(typeText),
    final_func: one.finalFunction?.name ?? null,
    initcond: one.initial?.text ?? null,
    return_type: typeText(one.returnType),
    state_func: one.stateFunction.name,
    state_type: typeText(one.stateType),
  }));
}

export function roleRows(roles: RoleStore): readonly SystemRow[] {
  return roles.list().map(({ name, canLogin, isSuperuser, memberOf, hash }) => ({
    role: name,
    can_login: canLogin,
    is_superuser: isSuperuser,
    member_of: memberOf.length === 0 ? null : [...memberOf].sort(),
    salted_hash: hash === '' ? null : hash,
  }));
}

export function roleMemberRows(roles: RoleStore): readonly SystemRow[] {
  return roles
    .list()
    .flatMap(({ name, memberOf }) => memberOf.map((role) => ({ role, member: name })));
}

export function permissionRows(roles: RoleStore): readonly SystemRow[] {
  return roles.grants.map(({ role, resource, permissions }) => ({
    role,
    resource,
    permissions: [...permissions].sort(),
  }));
}

export function clientRows(clients: readonly ClientDescription[]): readonly SystemRow[] {
  return clients.map(({ address, id, isTls, version, phase, role, options, requestCount }) => ({
    address,
    port: id,
    connection_stage: phase,
    driver_name: options.get('DRIVER_NAME') ?? null,
    driver_version: options.get('DRIVER_VERSION') ?? null,
    hostname: address,
    protocol_version: version,
    request_count: requestCount,
    ssl_enabled: isTls,
    username: role,
  }));
}

/** What tools ask for by name. */
const SETTINGS: Readonly<Record<string, string>> = {
  authenticator: 'PasswordAuthenticator',
  authorizer: 'CassandraAuthorizer',
  cluster_name: 'Mesocosm',
  enable_materialized_views: 'true',
  enable_user_defined_functions: 'true',
  partitioner: 'org.apache.cassandra.dht.Murmur3Partitioner',
};

export function settingRows(): readonly SystemRow[] {
  return Object.entries(SETTINGS).map(([name, value]) => ({ name, value }));
}
