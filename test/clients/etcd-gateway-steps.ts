/** One request to the JSON gateway by curl, to ours and to a real etcd. */
export interface GatewayStep {
  /** Behind the address; a step with a body is a POST. */
  readonly path: string;
  readonly body?: string;
  /** `https`: with the client certificate, over HTTP/2. */
  readonly scheme?: 'https';
  readonly user?: 'root' | 'alice';
  readonly headers?: readonly string[];
  /** Of a stream that does not end: how many lines to read. */
  readonly lines?: number;
  /** Keeps what the first group finds under a name, for `<name>` in later bodies. */
  readonly capture?: Readonly<Record<string, RegExp>>;
}

const b64 = (text: string): string => Buffer.from(text).toString('base64');
const post = (path: string, body: object | string, more: Partial<GatewayStep> = {}): GatewayStep => ({
  path: `/v3/${path}`,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
});
const A = { key: b64('a') };

const KEYS: readonly GatewayStep[] = [
  post('kv/put', { ...A, value: b64('1') }),
  post('kv/put', { ...A, value: b64('2'), prev_kv: true }),
  post('kv/put', { key: b64('b'), value: b64('\u0000\u00ff'), prevKv: true }),
  post('kv/put', { key: b64('c'), lease: '77' }),
  post('kv/put', { value: b64('1') }),
  post('kv/range', A),
  post('kv/range', A, { scheme: 'https' }),
  post('kv/range', { key: b64('a'), range_end: b64('z'), sort_order: 'DESCEND', sort_target: 'MOD' }),
  post('kv/range', { key: b64('a'), range_end: b64('z'), sort_order: 2, limit: 1 }),
  post('kv/range', { key: 'AA==', range_end: 'AA==', count_only: true }),
  post('kv/range', { ...A, revision: '2', keys_only: true }),
  post('kv/range', { ...A, revision: '99' }),
  post('kv/range', { key: b64('none') }),
  post('kv/range', {}),
  post('kv/range', ''),
  post('kv/range', `${JSON.stringify(A)} trailing`),
  post('kv/range', { ...A, unknown: { x: [1] } }),
  post('kv/range', 'xx'),
  post('kv/range', '{"key":'),
  post('kv/range', A, { headers: ['Grpc-Timeout: 1H'] }),
  post('kv/txn', {
    compare: [{ ...A, target: 'VALUE', result: 'EQUAL', value: b64('2') }],
    success: [{ request_put: { ...A, value: b64('3') } }, { request_range: A }],
    failure: [{ request_delete_range: A }],
  }),
  post('kv/txn', {
    compare: [{ ...A, target: 'VERSION', result: 'GREATER', version: '100' }],
    failure: [{ request_txn: { success: [{ request_delete_range: { ...A, prev_kv: true } }] } }],
  }),
  post('kv/txn', { compare: [{ target: 'VALUE', value: '' }] }),
  post('kv/deleterange', { key: b64('b'), prev_kv: true }),
  post('kv/deleterange', { key: b64('b') }),
  post('kv/compaction', { revision: '3' }),
  post('kv/compaction', { revision: '3' }),
  post('kv/compaction', { revision: '1000' }),
  post('kv/range', { ...A, revision: '1' }),
  { ...post('kv/range', A), path: '/v3beta/kv/range' },
];

const STREAMS: readonly GatewayStep[] = [
  post('watch', { create_request: { ...A, start_revision: '4' } }, { lines: 2 }),
  post('watch', { create_request: { ...A, start_revision: '4' } }, { lines: 2, scheme: 'https' }),
  post('watch', { create_request: { ...A, start_revision: '1' } }, { lines: 2 }),
  post('watch', { create_request: { ...A, filters: ['NOPUT'] } }, { lines: 1 }),
  post('watch', '{"create_request":{"key":"YQ=="}} {"create_request":{"key":"Yg==","watch_id":"9"}}', {
    lines: 2,
  }),
  post('lease/grant', { TTL: '1000' }, { capture: { lease: /"ID":"(\d+)"/ } }),
  post('lease/grant', { ID: '77', TTL: 1000 }),
  post('lease/grant', { ID: '77', TTL: 1000 }),
  post('lease/grant', { TTL: '9223372036854775807' }),
  post('kv/put', '{"key":"bGVhc2Vk","lease":"<lease>"}'),
  post('lease/keepalive', '{"ID":"<lease>"}'),
  post('lease/keepalive', { ID: '5' }),
  post('lease/timetolive', { ID: '77', keys: true }),
  post('kv/lease/timetolive', '{"ID":"<lease>","keys":true}'),
  post('lease/timetolive', { ID: '5' }),
  post('lease/revoke', '{"ID":"<lease>"}'),
  post('kv/lease/revoke', { ID: '5' }),
  post('lease/leases', {}),
];

const CONCURRENCY: readonly GatewayStep[] = [
  post('lock/lock', { name: b64('l'), lease: '77' }),
  post('lock/lock', { name: b64('l'), lease: '77' }),
  post('lock/unlock', { key: b64('l/4d') }),
  post('lock/unlock', { key: b64('l/4d') }),
  post('lock/lock', { name: b64('l'), lease: '5' }),
  post('election/leader', { name: b64('e') }),
  post(
    'election/campaign',
    { name: b64('e'), lease: '77', value: b64('v') },
    {
      capture: { leader: /"leader":(\{.*\})/ },
    },
  ),
  post('election/leader', { name: b64('e') }),
  post('election/observe', { name: b64('e') }, { lines: 1 }),
  post('election/proclaim', '{"leader":<leader>,"value":"dzI="}'),
  post('election/leader', { name: b64('e') }),
  post('election/resign', '{"leader":<leader>}'),
  post('election/resign', {}),
  post('election/leader', { name: b64('e') }),
];

const OPERATIONS: readonly GatewayStep[] = [
  post('cluster/member/list', {}),
  post('cluster/member/remove', { ID: '5' }),
  post('cluster/member/promote', { ID: '5' }),
  post('cluster/member/update', { ID: '5', peerURLs: ['http://127.0.0.1:1'] }),
  post('maintenance/alarm', { action: 'GET' }),
  post('maintenance/alarm', { action: 'ACTIVATE', alarm: 'NOSPACE' }),
  post('maintenance/alarm', { action: 'GET' }),
  post('maintenance/alarm', { action: 'DEACTIVATE', alarm: 'NOSPACE' }),
  post('maintenance/defragment', {}),
  post('maintenance/transfer-leadership', { targetID: '5' }),
];

const AUTH: readonly GatewayStep[] = [
  post('auth/enable', {}),
  post('auth/authenticate', { name: 'root', password: 'r' }),
  post('auth/user/add', { name: 'root', password: 'r' }),
  post('auth/user/add', { name: 'root', password: 'r' }),
  post('auth/user/add', { name: 'alice', password: 'a' }),
  post('auth/user/add', {}),
  post('auth/role/add', { name: 'root' }),
  post('auth/role/add', { name: 'reader' }),
  post('auth/role/grant', { name: 'reader', perm: { permType: 'READ', key: b64('a'), range_end: b64('b') } }),
  post('auth/role/grant', { name: 'none', perm: { permType: 'READ', key: b64('a') } }),
  post('auth/role/get', { role: 'reader' }),
  post('auth/role/list', {}),
  post('auth/user/grant', { user: 'root', role: 'root' }),
  post('auth/user/grant', { user: 'alice', role: 'reader' }),
  post('auth/user/get', { name: 'alice' }),
  post('auth/user/get', { name: 'nobody' }),
  post('auth/user/list', {}),
  post('auth/enable', {}),
  post('auth/authenticate', { name: 'root', password: 'wrong' }),
  post('auth/authenticate', { name: 'root', password: 'r' }, { capture: { root: /"token":"([^"]*)"/ } }),
  post('auth/authenticate', { name: 'alice', password: 'a' }, { capture: { alice: /"token":"([^"]*)"/ } }),
  post('kv/range', A),
  post('kv/range', A, { user: 'alice' }),
  post('kv/range', A, { headers: ['Authorization: nonsense'] }),
  post('kv/range', { key: b64('x') }, { user: 'alice' }),
  post('kv/put', A, { user: 'alice' }),
  post('kv/put', A, { user: 'root' }),
  post('watch', { create_request: A }, { user: 'alice', lines: 1 }),
  post('watch', { create_request: { key: b64('x') } }, { user: 'alice', lines: 1 }),
  post('auth/user/list', {}, { user: 'alice' }),
  post('auth/user/changepw', { name: 'alice', password: 'b' }, { user: 'root' }),
  post('auth/user/revoke', { name: 'alice', role: 'reader' }, { user: 'root' }),
  post('auth/role/revoke', { role: 'reader', key: b64('a') }, { user: 'root' }),
  post('auth/role/revoke', { role: 'reader', key: b64('a'), range_end: b64('b') }, { user: 'root' }),
  post('auth/role/delete', { role: 'reader' }, { user: 'root' }),
  post('auth/user/delete', { name: 'alice' }, { user: 'root' }),
  post('kv/range', A, { user: 'alice' }),
  post('kv/range', A, { scheme: 'https' }),
  post('auth/disable', {}, { user: 'root' }),
  post('kv/range', A),
];

const PLAIN: readonly GatewayStep[] = [
  { path: '/health' },
  { path: '/health', scheme: 'https' },
  { path: '/health', body: 'x' },
  { path: '/debug/vars', body: 'x' },
  { path: '/' },
  { path: '/v2/keys' },
];

export const GATEWAY_STEPS: readonly GatewayStep[] = [
  ...KEYS,
  ...STREAMS,
  ...CONCURRENCY,
  ...OPERATIONS,
  ...AUTH,
  ...PLAIN,
];
