import type {
  ClusterEntry,
  ComponentState,
  HostState,
  LocalClusterState,
  TableColumn,
  TableRow,
} from '../../../core/contract/index.ts';

/** States of a cluster as tests need them. */
export const component = (name: string, more: Partial<ComponentState> = {}): ComponentState => ({
  name,
  phase: 'ready',
  version: 'v1.36.0',
  restarts: 0,
  changedMs: 900,
  message: null,
  heapBytes: 40 * 1024 * 1024,
  utilization: 0.02,
  isLeader: false,
  ...more,
});

const PLANE = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'etcd',
];

export const plane = (ordinal: number, more: Partial<HostState> = {}): HostState => ({
  name: `cp-${ordinal}`,
  role: 'control-plane',
  address: `127.21.0.${ordinal}`,
  phase: 'running',
  pid: 100 + ordinal,
  rssBytes: 200 * 1024 * 1024,
  message: null,
  restarts: 0,
  lastExit: null,
  nodes: [`cp-${ordinal}`],
  components: PLANE.map((name) => component(name, { isLeader: ordinal === 1 && name !== 'kube-apiserver' })),
  ...more,
});

export const workersHost: HostState = {
  name: 'workers',
  role: 'workers',
  address: '127.21.16.1',
  phase: 'running',
  pid: 200,
  rssBytes: 90 * 1024 * 1024,
  message: null,
  restarts: 0,
  lastExit: null,
  nodes: ['worker-1', 'worker-2'],
  components: [],
};

export const clusterState = (more: Partial<LocalClusterState> = {}): LocalClusterState => ({
  phase: 'ready',
  message: null,
  name: 'harbor',
  directory: '/data/harbor',
  kubernetesVersion: 'v1.36.0',
  topology: 'stacked',
  endpoint: 'https://127.21.0.100:6443',
  kubeconfigPath: '/data/harbor/kubeconfig/admin.conf',
  startedAtMs: 1_000,
  readyAfterMs: 2_800,
  warnings: [],
  hosts: [plane(1), plane(2), plane(3), workersHost],
  loadBalancer: {
    address: '127.21.0.100',
    port: 6443,
    connections: 12,
    backends: [1, 2, 3].map((ordinal) => ({
      name: `cp-${ordinal}`,
      address: `127.21.0.${ordinal}:6443`,
      isHealthy: true,
      isDraining: false,
      connections: 4,
    })),
  },
  faults: [],
  ...more,
});

export const ownEntry = (phase: LocalClusterState['phase'] = 'ready'): ClusterEntry => ({
  id: '/data/harbor',
  name: 'harbor',
  origin: 'local',
  server: 'https://127.21.0.100:6443',
  user: 'kubernetes-admin',
  namespace: 'default',
  kubeconfigPath: '/data/harbor/kubeconfig/admin.conf',
  readOnly: false,
  local: { directory: '/data/harbor', phase, kubernetesVersion: 'v1.36.0' },
});

const column = (name: string): TableColumn => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
});
const row = (
  namespace: string,
  name: string,
  cells: readonly string[],
  labels: Record<string, string> = {},
): TableRow => ({
  key: `${namespace}/${name}`,
  uid: `${namespace}/${name}`,
  name,
  namespace,
  createdAtMs: 0,
  isDeleting: false,
  labels,
  cells: [...cells],
});

export const podColumns = ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node'].map(column);
export const podRow = (
  key: string,
  { ready = '1/1', status = 'Running', node = 'worker-1', labels = {} as Record<string, string> } = {},
): TableRow => {
  const [namespace = '', name = ''] = key.split('/');
  return row(namespace, name, [name, ready, status, '0', '1m', '10.0.0.1', node], labels);
};
export const nodeColumns = ['Name', 'Status', 'Roles', 'Age', 'Version', 'Internal-IP'].map(column);
export const nodeRow = (name: string, status = 'Ready', isPlane = false): TableRow =>
  row(
    '',
    name,
    [name, status, '<none>', '1m', 'v1.36.0', '127.21.16.1'],
    isPlane ? { 'node-role.kubernetes.io/control-plane': '' } : {},
  );
