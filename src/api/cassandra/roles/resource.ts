/** What permissions are granted on, by the names that Cassandra keeps them under: `data/k/t`, `roles/r`, `functions`. */

const PERMISSIONS = [
  'CREATE',
  'ALTER',
  'DROP',
  'SELECT',
  'MODIFY',
  'AUTHORIZE',
  'DESCRIBE',
  'EXECUTE',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export function isPermission(text: string): text is Permission {
  return (PERMISSIONS as readonly string[]).includes(text);
}

export interface Resource {
  readonly kind: 'data' | 'roles' | 'functions' | 'mbean';
  /** From the root: keyspace and table, role, keyspace and signature. */
  readonly path: readonly string[];
}

export function dataResource(...path: readonly string[]): Resource {
  return { kind: 'data', path };
}

export function functionResource(...path: readonly string[]): Resource {
  return { kind: 'functions', path };
}

export function roleResource(...path: readonly string[]): Resource {
  return { kind: 'roles', path };
}

/** As system_auth keeps it. */
export function resourceName({ kind, path }: Resource): string {
  return [kind, ...path].join('/');
}

export function resourceOfName(name: string): Resource {
  const [kind, ...path] = name.split('/');
  return { kind: kind as Resource['kind'], path };
}

/** The resource and all above it. */
export function withParents({ kind, path }: Resource): readonly Resource[] {
  return Array.from({ length: path.length + 1 }, (_, at) => ({
    kind,
    path: path.slice(0, path.length - at),
  }));
}

/** What GRANT ALL gives. */
export function applicablePermissions({ kind, path }: Resource): readonly Permission[] {
  switch (kind) {
    case 'data':
      return path.length < 2
        ? ['CREATE', 'ALTER', 'DROP', 'SELECT', 'MODIFY', 'AUTHORIZE']
        : ['ALTER', 'DROP', 'SELECT', 'MODIFY', 'AUTHORIZE'];
    case 'roles':
      return path.length === 0
        ? ['CREATE', 'ALTER', 'DROP', 'AUTHORIZE', 'DESCRIBE']
        : ['ALTER', 'DROP', 'AUTHORIZE'];
    case 'functions':
      return path.length < 2
        ? ['CREATE', 'ALTER', 'DROP', 'AUTHORIZE', 'EXECUTE']
        : ['ALTER', 'DROP', 'AUTHORIZE', 'EXECUTE'];
    case 'mbean':
      return ['SELECT', 'MODIFY', 'DESCRIBE', 'EXECUTE', 'AUTHORIZE'];
  }
}

/** As messages and LIST PERMISSIONS show it. */
export function resourceText({ kind, path }: Resource): string {
  const [first, second] = path;
  switch (kind) {
    case 'data':
      if (first === undefined) return '<all keyspaces>';
      return second === undefined ? `<keyspace ${first}>` : `<table ${first}.${second}>`;
    case 'roles':
      return first === undefined ? '<all roles>' : `<role ${first}>`;
    case 'functions':
      if (first === undefined) return '<all functions>';
      return second === undefined ? `<all functions in ${first}>` : `<function ${first}.${second}>`;
    case 'mbean':
      return first === undefined ? '<all mbeans>' : `<mbean ${first}>`;
  }
}

/** A permission that a statement needs. */
export interface Requirement {
  readonly permission: Permission;
  readonly resource: Resource;
}
