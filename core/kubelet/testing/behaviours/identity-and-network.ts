import type { Behaviour } from './behaviour.ts';

const NO_PROCESS = 'simulated containers have no process of the system';
const sh = (script: string): string[] => ['/bin/sh', '-c', script];
/** One line of /proc/self/status, without the tab. */
const ofProcess = (name: string): string => `grep ${name}: /proc/self/status | tr -d "\\t "`;

const identities: readonly Behaviour[] = [
  {
    name: 'users',
    spec: {
      securityContext: { runAsUser: 1000, runAsGroup: 3000, supplementalGroups: [4000, 5000] },
      containers: [
        { name: 'main' },
        { name: 'own', securityContext: { runAsUser: 2000, runAsGroup: 2001 }, command: sh('id -u; id -g') },
      ],
    },
    claims: [
      { claim: 'runAsUser is the user of processes', sh: 'id -u', prints: '1000' },
      { claim: 'runAsGroup is their group', sh: 'id -g', prints: '3000' },
      { claim: 'supplementalGroups are their other groups', sh: 'id -G', prints: '3000 4000 5000' },
      {
        claim: 'the security context of a container wins',
        see: ({ logs }) => logs['own'],
        is: ['2000', '2001'],
      },
    ],
  },
  {
    name: 'root',
    spec: {},
    claims: [
      { claim: 'without a security context processes have the user of the image', sh: 'id -u', prints: '0' },
      { claim: 'a user without a group has group 0', sh: 'id -g', prints: '0' },
    ],
  },
  {
    name: 'user-without-group',
    spec: { securityContext: { runAsUser: 1234 } },
    claims: [{ claim: 'runAsUser alone leaves the group of the image', sh: 'id -g', prints: '0' }],
  },
  {
    name: 'not-root',
    spec: { containers: [{ name: 'main', securityContext: { runAsNonRoot: true, runAsUser: 0 } }] },
    story: (run) =>
      run.until(
        'a reason',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
      ),
    claims: [
      {
        claim: 'runAsNonRoot does not start a container as root',
        see: ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message,
        is: "container's runAsUser breaks non-root policy",
      },
    ],
  },
  {
    name: 'not-root-image',
    notSimulated: 'simulated images have no configuration',
    spec: { containers: [{ name: 'main', securityContext: { runAsNonRoot: true } }] },
    story: (run) =>
      run.until(
        'a reason',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
      ),
    claims: [
      {
        claim: 'runAsNonRoot does not start an image whose user is root',
        see: ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message,
        is: 'container has runAsNonRoot and image will run as root',
      },
    ],
  },
  {
    name: 'read-only-root',
    spec: {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          securityContext: { readOnlyRootFilesystem: true },
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
    },
    claims: [
      {
        claim: 'readOnlyRootFilesystem takes no files',
        sh: 'touch /tmp/no 2>/dev/null || echo refused',
        prints: 'refused',
      },
      {
        claim: 'volumes of a read-only container can be written',
        sh: 'echo x > /v/x; cat /v/x',
        prints: 'x',
      },
    ],
  },
  {
    name: 'capabilities',
    notSimulated: NO_PROCESS,
    spec: {
      containers: [
        {
          name: 'main',
          securityContext: {
            capabilities: { drop: ['ALL'] },
            allowPrivilegeEscalation: false,
            seccompProfile: { type: 'RuntimeDefault' },
          },
        },
        {
          name: 'added',
          securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
          command: sh(ofProcess('CapEff')),
        },
        {
          name: 'privileged',
          securityContext: { privileged: true },
          command: sh(`test $(wc -c < /proc/self/status) -gt 0 && ls /dev/mem /dev/full`),
        },
        {
          name: 'default',
          command: sh(
            `${ofProcess('NoNewPrivs')}; ${ofProcess('Seccomp')}; test -s /proc/kcore || echo masked`,
          ),
        },
      ],
    },
    claims: [
      {
        claim: 'a container that drops ALL has no capabilities',
        sh: ofProcess('CapEff'),
        prints: 'CapEff:0000000000000000',
      },
      {
        claim: 'allowPrivilegeEscalation false sets no_new_privs',
        sh: ofProcess('NoNewPrivs'),
        prints: 'NoNewPrivs:1',
      },
      {
        claim: 'seccompProfile RuntimeDefault filters system calls',
        sh: ofProcess('Seccomp'),
        prints: 'Seccomp:2',
      },
      {
        claim: 'added capabilities are there',
        see: ({ logs }) => logs['added'],
        is: ['CapEff:0000000000000400'],
      },
      {
        claim: 'a privileged container has the devices of the node',
        see: ({ logs }) => logs['privileged']?.includes('/dev/full'),
        is: true,
      },
      {
        claim: 'by default there is no filter, and /proc is masked',
        see: ({ logs }) => logs['default'],
        is: ['NoNewPrivs:0', 'Seccomp:0', 'masked'],
      },
    ],
  },
  {
    name: 'sysctls',
    spec: {
      securityContext: {
        sysctls: [
          { name: 'net.ipv4.ip_unprivileged_port_start', value: '80' },
          { name: 'net.ipv4.ping_group_range', value: '1 2' },
        ],
      },
    },
    claims: [
      {
        claim: 'sysctls of a pod are set',
        sh: 'cat /proc/sys/net/ipv4/ip_unprivileged_port_start',
        prints: '80',
      },
      {
        claim: 'every sysctl is set',
        sh: 'cat /proc/sys/net/ipv4/ping_group_range | grep -c 1',
        prints: '1',
      },
    ],
  },
  {
    name: 'processes',
    notSimulated: NO_PROCESS,
    spec: { shareProcessNamespace: true },
    claims: [
      {
        claim: 'shareProcessNamespace makes the sandbox process 1',
        sh: 'head -c 10 /proc/1/cmdline',
        prints: '/bin/sleep',
      },
    ],
  },
  {
    name: 'own-processes',
    notSimulated: NO_PROCESS,
    spec: {},
    claims: [
      { claim: 'a container has processes of its own', sh: 'head -c 7 /proc/1/cmdline', prints: '/bin/sh' },
    ],
  },
  {
    name: 'files-of-their-own',
    spec: {
      containers: [
        {
          name: 'main',
          command: sh(
            'until wget -qO- http://127.0.0.1:8080/ >/dev/null 2>&1; do sleep 0.1; done; test -e /tmp/index.html || echo apart',
          ),
        },
        {
          name: 'web',
          command: sh('echo ok > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'),
          ports: [{ containerPort: 8080 }],
        },
      ],
    },
    story: (run) =>
      run.until('the end of main', () => run.status().containerStatuses?.[0]?.state?.terminated),
    claims: [
      {
        claim: 'containers of a pod reach each other on 127.0.0.1',
        see: ({ status }) => status.containerStatuses?.[0]?.state?.terminated?.exitCode,
        is: 0,
      },
      {
        claim: 'containers of a pod have files of their own',
        see: ({ logs }) => logs['main'],
        is: ['apart'],
      },
    ],
  },
];

const names: readonly Behaviour[] = [
  {
    name: 'hosts-file',
    spec: {
      hostAliases: [
        { ip: '10.1.2.3', hostnames: ['foo.remote', 'bar.remote'] },
        { ip: '127.0.0.1', hostnames: ['me.local'] },
      ],
    },
    claims: [
      {
        claim: 'the hosts file is managed',
        sh: 'head -n 1 /etc/hosts',
        prints: '# Kubernetes-managed hosts file.',
      },
      { claim: 'localhost is in the hosts file', sh: 'grep -c localhost /etc/hosts', prints: '2' },
      {
        claim: 'the pod is in its hosts file',
        sh: 'tail -n 5 /etc/hosts | head -n 1',
        prints: (_, { podIP }) => `${podIP}\thosts-file`,
      },
      {
        claim: 'hostAliases are in the hosts file',
        sh: 'tail -n 2 /etc/hosts',
        prints: '10.1.2.3\tfoo.remote\tbar.remote\n127.0.0.1\tme.local',
      },
      { claim: 'the name of the host is that of the pod', sh: 'hostname', prints: 'hosts-file' },
    ],
  },
  {
    name: 'subdomain',
    spec: { hostname: 'busybox-1', subdomain: 'named' },
    claims: [
      { claim: 'hostname is the name of the host', sh: 'hostname', prints: 'busybox-1' },
      {
        claim: 'a pod with a subdomain has its full name in the hosts file',
        sh: 'tail -n 1 /etc/hosts',
        prints: (_, { podIP }) => `${podIP}\tbusybox-1.named.default.svc.cluster.local\tbusybox-1`,
      },
      { claim: 'HOSTNAME is the hostname of the pod', sh: 'echo "$HOSTNAME"', prints: 'busybox-1' },
    ],
  },
  {
    name: 'full-hostname',
    spec: { hostname: 'h', subdomain: 'named', setHostnameAsFQDN: true },
    claims: [
      {
        claim: 'setHostnameAsFQDN makes the full name that of the host',
        sh: 'hostname',
        prints: 'h.named.default.svc.cluster.local',
      },
    ],
  },
  {
    name: 'dns-cluster-first',
    spec: {},
    claims: [
      {
        claim: 'ClusterFirst asks the DNS of the cluster',
        sh: 'grep nameserver /etc/resolv.conf',
        prints: 'nameserver 10.96.0.10',
      },
      {
        claim: 'ClusterFirst searches namespace, Services and domain',
        sh: 'grep search /etc/resolv.conf',
        prints: 'search default.svc.cluster.local svc.cluster.local cluster.local',
      },
      { claim: 'ClusterFirst has ndots 5', sh: 'grep options /etc/resolv.conf', prints: 'options ndots:5' },
    ],
  },
  {
    name: 'dns-none',
    spec: {
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['192.0.2.1'],
        searches: ['ns1.svc.example', 'my.dns.search'],
        options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
      },
    },
    claims: [
      {
        claim: 'dnsPolicy None has the servers of dnsConfig alone',
        sh: 'grep nameserver /etc/resolv.conf',
        prints: 'nameserver 192.0.2.1',
      },
      {
        claim: 'dnsPolicy None has the searches of dnsConfig alone',
        sh: 'grep search /etc/resolv.conf',
        prints: 'search ns1.svc.example my.dns.search',
      },
      {
        claim: 'options may have no value',
        sh: 'grep options /etc/resolv.conf',
        prints: 'options ndots:2 edns0',
      },
    ],
  },
  {
    name: 'dns-merged',
    spec: {
      dnsConfig: {
        nameservers: ['192.0.2.1'],
        searches: ['example.com'],
        options: [{ name: 'ndots', value: '1' }],
      },
    },
    claims: [
      {
        claim: 'dnsConfig adds servers',
        sh: 'grep nameserver /etc/resolv.conf',
        prints: 'nameserver 10.96.0.10\nnameserver 192.0.2.1',
      },
      {
        claim: 'dnsConfig adds searches',
        sh: 'grep search /etc/resolv.conf',
        prints: 'search default.svc.cluster.local svc.cluster.local cluster.local example.com',
      },
      { claim: 'options of dnsConfig win', sh: 'grep options /etc/resolv.conf', prints: 'options ndots:1' },
    ],
  },
  {
    name: 'host-network',
    spec: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
    claims: [
      {
        claim: 'a pod in the network of its host has its address',
        see: ({ status }) => status.podIP === status.hostIP,
        is: true,
      },
      {
        claim: 'ClusterFirstWithHostNet asks the DNS of the cluster',
        sh: 'grep nameserver /etc/resolv.conf',
        prints: 'nameserver 10.96.0.10',
      },
    ],
  },
];

export const identityAndNetworkBehaviours: readonly Behaviour[] = [...identities, ...names];
