import { beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { MemoryDatabase } from '../mvcc/backend/memory-engine.ts';
import { PERMISSION_TYPE } from '../proto/index.ts';
import { Access, AuthStore, Jwt, SimpleTokens, type Identity } from './index.ts';

const NOTHING = new Uint8Array(0);
const key = (text: string): Uint8Array => Buffer.from(text);
const clock = manualClock();
const noLeases = { lookup: () => undefined };
let store: AuthStore;
let invalidated: (string | undefined)[];
let backend: ReturnType<MemoryDatabase['open']>;

const user = (name: string): void =>
  store.userAdd({ name, password: '', hashedPassword: 'aGFzaA==', options: undefined });
const grant = (role: string, from: string, to: string): void =>
  store.roleGrantPermission({
    name: role,
    perm: { permType: PERMISSION_TYPE.READWRITE, key: key(from), rangeEnd: key(to) },
  });
const as = (username: string, revision = store.revision): Access =>
  new Access(store, noLeases, { username, revision });
const reasonOf = (run: () => void): string | undefined => {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as { reason?: string }).reason;
  }
};

beforeEach(() => {
  invalidated = [];
  backend = new MemoryDatabase().open({ clock });
  store = new AuthStore(backend, (name) => invalidated.push(name));
  user('root');
  store.userGrantRole({ user: 'root', role: 'root' });
  user('alice');
  store.roleAdd({ name: 'reader' });
  grant('reader', 'a', 'c');
  store.userGrantRole({ user: 'alice', role: 'reader' });
  store.enable();
});

test('everything is there after it is read back', () => {
  const again = new AuthStore(backend, () => undefined);
  expect({
    enabled: again.isEnabled,
    revision: again.revision,
    users: again.userNames(),
    roles: again.roleNames(),
    granted: again.rolesOf('alice'),
  }).toEqual({
    enabled: true,
    revision: store.revision,
    users: ['alice', 'root'],
    roles: ['reader'],
    granted: ['reader'],
  });
  expect(again.permissionsOfRole('reader').map(({ key: from }) => Buffer.from(from).toString())).toEqual([
    'a',
  ]);
});

test('it cannot be turned on without a root user that has the root role', () => {
  const empty = new AuthStore(new MemoryDatabase().open({ clock }), () => undefined);
  expect(reasonOf(() => empty.enable())).toBe('RootUserNotExist');
  empty.userAdd({ name: 'root', password: '', hashedPassword: '', options: undefined });
  expect(reasonOf(() => empty.enable())).toBe('RootRoleNotExist');
  expect([empty.isEnabled, empty.revision]).toEqual([false, 2]);
});

test.each<[string, () => void, string]>([
  ['a user twice', () => user('alice'), 'UserAlreadyExist'],
  ['a user without a name', () => user(''), 'UserEmpty'],
  ['a role twice', () => store.roleAdd({ name: 'reader' }), 'RoleAlreadyExist'],
  ['a role without a name', () => store.roleAdd({ name: '' }), 'RoleEmpty'],
  ['an unknown user', () => store.userDelete({ name: 'bob' }), 'UserNotFound'],
  ['an unknown role', () => store.userGrantRole({ user: 'alice', role: 'x' }), 'RoleNotFound'],
  ['the root user', () => store.userDelete({ name: 'root' }), 'InvalidAuthMgmt'],
  ['the root role', () => store.roleDelete({ role: 'root' }), 'InvalidAuthMgmt'],
  ['the root role of root', () => store.userRevokeRole({ name: 'root', role: 'root' }), 'InvalidAuthMgmt'],
  ['a role that was not granted', () => store.userRevokeRole({ name: 'alice', role: 'x' }), 'RoleNotGranted'],
  [
    'no permission',
    () => store.roleGrantPermission({ name: 'reader', perm: undefined }),
    'PermissionNotGiven',
  ],
  ['a permission without a key', () => grant('reader', '', ''), 'InvalidAuthMgmt'],
  [
    'a permission that was not granted',
    () => store.roleRevokePermission({ role: 'reader', key: key('x'), rangeEnd: NOTHING }),
    'PermissionNotGranted',
  ],
])('%s is refused, and the revision stays', (_what, run, reason) => {
  const before = store.revision;
  expect(reasonOf(run)).toBe(reason);
  expect(store.revision).toBe(before);
});

test('a user may what its roles allow, root everything, no one nothing', () => {
  expect(reasonOf(() => as('alice').write(key('b')))).toBeUndefined();
  expect(reasonOf(() => as('alice').write(key('c')))).toBe('PermissionDenied');
  expect(reasonOf(() => as('alice').admin())).toBe('PermissionDenied');
  expect(reasonOf(() => as('root').write(key('c'), key('\0')))).toBeUndefined();
  expect(reasonOf(() => as('bob').read(key('b')))).toBe('PermissionDenied');
  expect(reasonOf(() => as('bob').admin())).toBe('UserNotFound');
  expect(reasonOf(() => new Access(store, noLeases, undefined).read(key('b')))).toBe('UserEmpty');
});

test('a check from before a change of users or roles is no longer valid', () => {
  const before = as('alice');
  store.userRevokeRole({ name: 'alice', role: 'reader' });
  expect(reasonOf(() => before.read(key('b')))).toBe('AuthOldRevision');
  expect(reasonOf(() => as('alice').read(key('b')))).toBe('PermissionDenied');
});

test('a deleted role is taken from everybody, and its permissions with it', () => {
  store.roleDelete({ role: 'reader' });
  expect(store.rolesOf('alice')).toEqual([]);
  expect(reasonOf(() => as('alice').read(key('b')))).toBe('PermissionDenied');
});

test('a changed password, a deleted user and the end of auth void tokens', () => {
  invalidated = [];
  store.userChangePassword({ name: 'alice', password: '', hashedPassword: '' });
  store.userDelete({ name: 'alice' });
  store.disable();
  expect(invalidated).toEqual(['alice', 'alice', undefined]);
});

test('keys of a lease guard its lease', () => {
  const leases = { lookup: () => ({ keys: () => [key('a'), key('x')] }) as never };
  const alice = new Access(store, leases, { username: 'alice', revision: store.revision });
  expect(reasonOf(() => alice.leaseWrites(1n))).toBe('PermissionDenied');
  const put = {
    key: key('a'),
    value: NOTHING,
    lease: 1n,
    prevKv: false,
    ignoreValue: false,
    ignoreLease: false,
  };
  expect(reasonOf(() => alice.put(put))).toBe('PermissionDenied');
  expect(reasonOf(() => alice.put({ ...put, lease: 0n }))).toBeUndefined();
});

test('a simple token is renewed by its use and void when it was not used for its lifetime', () => {
  const time = manualClock();
  const tokens = new SimpleTokens({ clock: time, ttlMs: 1000 });
  const token = tokens.assign('alice', 'prefix', 7);
  expect(token).toBe('prefix.7');
  for (let use = 0; use < 3; use += 1) {
    time.advance(900);
    expect(tokens.userOf(token)).toBe('alice');
  }
  time.advance(1000);
  expect([tokens.userOf(token), tokens.count]).toEqual([undefined, 0]);
});

test('tokens of a user are void together', () => {
  const tokens = new SimpleTokens({ clock, ttlMs: 1000 });
  const [a, b] = [tokens.assign('alice', 'a', 1), tokens.assign('root', 'b', 2)];
  tokens.invalidate('alice');
  expect([tokens.userOf(a), tokens.userOf(b)]).toEqual([undefined, 'root']);
});

test('a signed token is read by anyone who has the key, until it expires or is changed', () => {
  const time = manualClock();
  const keys = { method: 'HS256', privateKey: Buffer.from('secret'), publicKey: undefined, ttlMs: 5000 };
  const jwt = new Jwt(keys, time);
  const identity: Identity = { username: 'alice', revision: 9 };
  const token = jwt.issue(identity)!;
  expect(new Jwt(keys, time).read(token)).toEqual(identity);
  expect(new Jwt({ ...keys, privateKey: Buffer.from('other') }, time).read(token)).toBeUndefined();
  const [head, claims, signature] = token.split('.') as [string, string, string];
  const forged = Buffer.from(JSON.stringify({ username: 'root', revision: 9, exp: 1e12 })).toString(
    'base64url',
  );
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  for (const bad of [
    `${head}.${forged}.${signature}`,
    `${none}.${claims}.`,
    `${none}.${claims}`,
    '',
    'a.b.c',
    token.slice(1),
  ])
    expect(jwt.read(bad)).toBeUndefined();
  time.advance(6000);
  expect(jwt.read(token)).toBeUndefined();
});
