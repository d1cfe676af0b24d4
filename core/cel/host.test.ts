import { describe, expect, test } from 'vitest';
import {
  AUTHORIZER_TYPE,
  type AuthorizationRequest,
  type Authorizer,
  CelAuthorizer,
  type Environment,
  EvaluationInterrupted,
  JSON_PATCH,
  LazyStruct,
  LiteralStruct,
  STATIC_ESTIMATED_COST_LIMIT,
  type Value,
  createEnvironment,
  error,
  escapeName,
  estimateCost,
  schemaType,
  toNative,
  types,
  unescapeName,
} from './index.ts';

const run = (environment: Environment, text: string, activation: Record<string, unknown> = {}): unknown => {
  const compiled = environment.compile(text);
  if (!compiled.ok) return compiled.text.split('\n')[0];
  const evaluated = compiled.program.evaluate(activation);
  return evaluated.ok ? toNative(evaluated.value) : { error: evaluated.error };
};

describe('an authorizer', () => {
  const environment = createEnvironment({ version: '1.36', variables: { authorizer: AUTHORIZER_TYPE } });
  const recording = (user: string, requests: unknown[]): Authorizer => ({
    authorize: (request: AuthorizationRequest) => {
      requests.push({ user, ...request });
      return request.verb === 'get'
        ? { allowed: true, reason: 'by test' }
        : { allowed: false, reason: '', error: 'no policy' };
    },
    serviceAccount: (namespace, name) => recording(`${namespace}/${name}`, requests),
  });

  test('is asked what the expression says', () => {
    const requests: unknown[] = [];
    const authorizer = new CelAuthorizer(recording('jane', requests));
    const text =
      "authorizer.serviceAccount('prod', 'web').group('apps').resource('deployments').subresource('scale')" +
      ".namespace('prod').name('a').labelSelector('x=y').check('get').allowed()" +
      " && authorizer.path('/healthz').check('post').errored()";
    expect(run(environment, text, { authorizer })).toBe(true);
    expect(requests).toEqual([
      {
        user: 'prod/web',
        kind: 'resource',
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'prod',
        name: 'a',
        fieldSelector: '',
        labelSelector: 'x=y',
        verb: 'get',
      },
      { user: 'jane', kind: 'path', path: '/healthz', verb: 'post' },
    ]);
  });

  test('allows two checks per expression and no third', () => {
    const authorizer = new CelAuthorizer(recording('jane', []));
    const checks = (count: number): string =>
      Array.from({ length: count }, () => "authorizer.path('/a').check('get').allowed()").join(' && ');
    expect(run(environment, checks(2), { authorizer })).toBe(true);
    expect(run(environment, checks(3), { authorizer })).toEqual({
      error: 'operation cancelled: actual cost limit exceeded',
    });
  });

  test('rejects names that no service account has', () => {
    const authorizer = new CelAuthorizer(recording('jane', []));
    expect(run(environment, "authorizer.serviceAccount('a', 'B_')", { authorizer })).toEqual({
      error: 'Invalid service account name',
    });
  });

  test('may leave an evaluation that is repeated later', () => {
    const authorizer = new CelAuthorizer({
      authorize: () => {
        throw new EvaluationInterrupted();
      },
      serviceAccount: () => {
        throw new EvaluationInterrupted();
      },
    });
    expect(() => run(environment, "authorizer.path('/a').check('get').allowed()", { authorizer })).toThrow(
      EvaluationInterrupted,
    );
  });
});

describe('values of the host', () => {
  const variables = types.structOf('kubernetes.variables');
  const fields: Record<string, typeof types.INT> = { count: types.INT, bad: types.STRING };
  const environment = createEnvironment({
    version: '1.36',
    variables: { variables },
    structs: (name) =>
      name === variables.name ? { type: variables, field: (field) => fields[field] } : undefined,
  });

  test('are computed when they are first read, once', () => {
    let computed = 0;
    const compute = new Map<string, () => Value>([
      ['count', () => ++computed],
      ['bad', () => error('no such key: x')],
    ]);
    const activation = { variables: new LazyStruct(variables, compute) };
    expect(run(environment, 'variables.count + variables.count', activation)).toBe(2);
    expect(computed).toBe(1);
    expect(run(environment, "variables.bad == '' || variables.count == 1", activation)).toBe(true);
    expect(run(environment, 'variables.bad', activation)).toEqual({ error: 'no such key: x' });
    expect(run(environment, 'variables.missing')).toBe("ERROR: <input>:1:10: undefined field 'missing'");
  });

  test('are constructed by expressions that name their type', () => {
    const objectType = types.structOf('Object.spec');
    const making = createEnvironment({
      version: '1.36',
      libraries: [JSON_PATCH],
      structs: (name) =>
        name === objectType.name
          ? {
              type: objectType,
              field: (field) => (field === 'replicas' ? types.INT : undefined),
              construct: (given) => new LiteralStruct(objectType, given),
            }
          : undefined,
    });
    expect(run(making, 'Object.spec{replicas: 1 + 2}')).toEqual({ replicas: 3 });
    expect(run(making, 'Object.spec{?replicas: optional.none()}')).toEqual({});
    expect(run(making, 'Object.spec{replicas: 5}.replicas')).toBe(5);
    expect(run(making, "Object.spec{replicas: 'a'}")).toBe(
      "ERROR: <input>:1:21: expected type of field 'replicas' is 'int' but provided type is 'string'",
    );
    expect(run(making, "jsonpatch.escapeKey('a/b~c')")).toBe('a~1b~0c');
  });
});

test('libraries appear with the version that has them', () => {
  const sorts = (version: '1.33' | '1.34' | 'stored'): unknown =>
    run(createEnvironment({ version }), '[2, 1].sort()');
  expect([sorts('1.33'), sorts('1.34'), sorts('stored')]).toEqual([
    "ERROR: <input>:1:12: undeclared reference to 'sort' (in container '')",
    [1, 2],
    [1, 2],
  ]);
});

test('a constant that cannot be converted has no program', () => {
  expect(createEnvironment({ version: '1.36' }).compile("int('x') == 1")).toMatchObject({
    ok: false,
    reason: 'no-program',
    text: "type conversion error from 'string' to 'int'",
  });
});

describe('a schema', () => {
  test('decides which rules are too expensive', () => {
    const costOf = (maxItems?: number): bigint => {
      const items = { type: 'string', ...(maxItems === undefined ? {} : { maxLength: 10 }) };
      const self = schemaType({ type: 'array', items, ...(maxItems === undefined ? {} : { maxItems }) })!;
      const compiled = createEnvironment({ version: '1.36', variables: { self } }).compile(
        'self.all(a, self.all(b, a == b))',
      );
      if (!compiled.ok) throw new Error(compiled.text);
      return estimateCost(compiled.program, self.estimateSize).max;
    };
    expect(costOf(10)).toBeLessThan(STATIC_ESTIMATED_COST_LIMIT);
    expect(costOf()).toBeGreaterThan(STATIC_ESTIMATED_COST_LIMIT);
  });

  test('says how often its data fits into a request', () => {
    expect(schemaType({ type: 'integer' })!.maxCardinality).toBe(1_572_864n);
    expect(schemaType({ type: 'object', properties: {} })!.maxCardinality).toBe(1_048_576n);
  });

  test('has an old value that may be missing', () => {
    const self = schemaType({ type: 'integer' })!;
    const environment = createEnvironment({
      version: '1.36',
      variables: { self, oldSelf: self.optional() },
    });
    const text = 'oldSelf.hasValue() ? self >= oldSelf.value() : self == 0';
    expect(run(environment, text, { self: 3, oldSelf: 2 })).toBe(true);
    expect(run(environment, text, { self: 3, oldSelf: null })).toBe(false);
  });

  test('without a type is not visible', () => {
    expect(schemaType({ 'x-kubernetes-preserve-unknown-fields': true })).toBeUndefined();
  });

  test('turns data that does not follow it into failures', () => {
    const self = schemaType({ type: 'object', properties: { n: { type: 'integer' } } })!;
    const environment = createEnvironment({ version: '1.36', variables: { self } });
    expect(run(environment, 'self.n + 1', { self: { n: 'x' } })).toEqual({
      error: 'invalid data, expected int, got string',
    });
  });
});

test('names of properties that are no identifiers are escaped and back', () => {
  const names = ['a', 'a-b', 'a.b/c', 'a__b', 'in', 'namespace', '-x', '_'];
  expect(names.map(escapeName)).toEqual([
    'a',
    'a__dash__b',
    'a__dot__b__slash__c',
    'a__underscores__b',
    '__in__',
    '__namespace__',
    '__dash__x',
    '_',
  ]);
  expect(names.map((name) => unescapeName(escapeName(name)!))).toEqual(names);
  expect(['1a', 'a b', ''].map(escapeName)).toEqual([undefined, undefined, undefined]);
  expect(unescapeName('a__nope__b')).toBeUndefined();
});

test('a program knows which variables it uses', () => {
  const environment = createEnvironment({ version: '1.36', variables: { a: types.DYN, b: types.DYN } });
  const compiled = environment.compile('[1].all(x, x == a.b)');
  expect(compiled.ok && [compiled.program.uses('a'), compiled.program.uses('b')]).toEqual([true, false]);
});
