/**
 * Which folder may import which: imports go down only. The key is a zone (a folder), the value the zones
 * it may import besides itself. Longest matching folder wins.
 */
export const ZONES = {
  'core/base': [],
  'core/base/node': ['core/base'],
  'core/raft': ['core/base'],
  'core/cel': ['core/base'],
  'core/pki': ['core/base', 'core/base/node'],
  'core/api': ['core/base'],
  'core/etcd': ['core/base', 'core/base/node', 'core/raft', 'core/pki'],
  'core/client': ['core/base', 'core/base/node', 'core/api', 'core/cel', 'core/pki'],
  'core/contract': ['core/base', 'core/api'],
  'core/graph': ['core/base', 'core/api', 'core/contract', 'core/network-policy'],
  'core/timeline': ['core/base', 'core/contract'],
  'core/component': ['core/base', 'core/base/node', 'core/api', 'core/pki', 'core/client'],
  'core/apiserver': ['core/base', 'core/base/node', 'core/api', 'core/cel', 'core/pki', 'core/component'],
  // The only door from the API server to etcd is its own etcd client in storage/, which speaks the wire.
  'core/apiserver/storage': [
    'core/base',
    'core/base/node',
    'core/api',
    'core/cel',
    'core/pki',
    'core/component',
    'core/apiserver',
    'core/etcd/proto',
  ],
  'core/etcd/proto': ['core/base'],
  'core/scheduler': ['core/base', 'core/base/node', 'core/api', 'core/client', 'core/component', 'core/pki'],
  'core/controllers': [
    'core/base',
    'core/base/node',
    'core/api',
    'core/client',
    'core/component',
    'core/pki',
    'core/metrics-server',
  ],
  'core/metrics-server': [
    'core/base',
    'core/base/node',
    'core/api',
    'core/client',
    'core/component',
    'core/pki',
  ],
  'core/cloud': [
    'core/base',
    'core/base/node',
    'core/api',
    'core/client',
    'core/component',
    'core/pki',
    'core/controllers',
    // The loopback cloud balances connections as the proxy does.
    'core/proxy',
    'core/proxy/forwarding',
  ],
  'core/kubelet': [
    'core/base',
    'core/base/node',
    'core/api',
    'core/client',
    'core/component',
    'core/pki',
    // Simulated containers look names up, and policies decide what they may reach.
    'core/dns/wire',
    'core/dns/exchange',
    'core/network-policy',
  ],
  'core/proxy': [
    'core/base',
    'core/base/node',
    'core/api',
    'core/client',
    'core/component',
    'core/pki',
    'core/network-policy',
    'core/policy-agent',
  ],
  // How connections are passed on, for anyone who listens on behalf of others.
  'core/proxy/forwarding': ['core/base', 'core/base/node'],
  'core/dns': ['core/base', 'core/base/node', 'core/api', 'core/client', 'core/component', 'core/pki'],
  // Questions and answers as bytes, for anyone who asks.
  'core/dns/wire': ['core/base', 'core/api'],
  'core/dns/zone': ['core/base', 'core/api', 'core/dns/wire'],
  // Sending a question to a server.
  'core/dns/exchange': ['core/base', 'core/dns/wire'],
  'core/network-policy': ['core/base', 'core/api'],
  // Policies as they are now, for who passes connections on, and in the kernel.
  'core/policy-agent': ['core/base', 'core/base/node', 'core/api', 'core/client', 'core/network-policy'],
  'core/cluster': ['core'],
  main: ['core'],
  'main/preload': ['core/base', 'core/contract'],
  // Texts, which the editor offers.
  'resources/samples': [],
  renderer: ['core/base', 'core/api', 'core/contract', 'core/timeline', 'resources/samples'],
  test: ['core', 'main', 'renderer', 'resources'],
  resources: ['resources'],
};

/** Zones whose result depends on their input alone. */
export const PURE_ZONES = [
  'core/base',
  'core/raft',
  'core/api',
  'core/cel',
  'core/contract',
  'core/graph',
  'core/timeline',
  'core/dns/wire',
  'core/dns/zone',
  'core/network-policy',
];

const within = (path, folder) => path === folder || path.startsWith(`${folder}/`);

export const zoneOf = (path) =>
  Object.keys(ZONES)
    .filter((zone) => within(path, zone))
    .sort((a, b) => b.length - a.length)[0];

/** `renderer` sees `core/base` but not `core/base/node`: a zone nested in an allowed one is asked for by name. */
export const mayImport = (fromPath, toPath) => {
  const from = zoneOf(fromPath);
  const to = zoneOf(toPath);
  if (from === undefined || to === undefined) return true;
  if (from === to) return true;
  // A parent folder may use the parts it is made of, except where the part is a platform of its own.
  if (within(to, from) && to !== 'core/base/node' && to !== 'main/preload') return true;
  return ZONES[from].some(
    (allowed) =>
      allowed === to ||
      (allowed === 'core' && within(to, 'core')) ||
      (allowed === to.split('/')[0] && !to.startsWith('core')),
  );
};

/** Node's own modules may be used outside the pure zones and the pages. */
export const mayUseNode = (path) => {
  // What builds the pages runs in Node; the pages do not.
  if (path === 'renderer/vite.config.ts') return true;
  const zone = zoneOf(path);
  return zone !== undefined && !PURE_ZONES.includes(zone) && zone !== 'renderer' && zone !== 'main/preload';
};
