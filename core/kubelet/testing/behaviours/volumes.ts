import type { V1ConfigMap, V1Secret } from '../../../api/schema/index.ts';
import type { Behaviour } from './behaviour.ts';

const NO_DISK = 'simulated volumes are in memory: there is no file system to name';
const NO_OWNERS = 'files of simulated containers have no owners';

const settings: V1ConfigMap = {
  metadata: { name: 'settings' },
  data: { a: 'one\n', 'b.txt': 'two\n' },
  binaryData: { bin: Buffer.from([0xff, 0, 0xfe]).toString('base64') },
};
const keys: V1Secret = {
  metadata: { name: 'keys' },
  data: {
    user: Buffer.from('admin').toString('base64'),
    password: Buffer.from('s3cret\n').toString('base64'),
  },
};

const mount = (name: string, mountPath: string, rest: object = {}) => ({ name, mountPath, ...rest });
const failedMount = (events: readonly string[]): string[] => [
  ...new Set(events.filter((event) => event.includes('FailedMount'))),
];

/** ConfigMaps, Secrets, the downward API and projections. */
const objectVolumes: readonly Behaviour[] = [
  {
    name: 'config-map-volume',
    configMaps: [settings],
    spec: {
      volumes: [
        { name: 'all', configMap: { name: 'settings' } },
        { name: 'strict', configMap: { name: 'settings', defaultMode: 0o400 } },
        {
          name: 'picked',
          configMap: { name: 'settings', items: [{ key: 'a', path: 'deep/er/renamed', mode: 0o600 }] },
        },
        { name: 'none', configMap: { name: 'none', optional: true } },
        {
          name: 'some',
          configMap: {
            name: 'settings',
            optional: true,
            items: [
              { key: 'a', path: 'a' },
              { key: 'missing', path: 'missing' },
            ],
          },
        },
      ],
      containers: [
        {
          name: 'main',
          volumeMounts: [
            mount('all', '/all'),
            mount('strict', '/strict'),
            mount('picked', '/picked'),
            mount('none', '/none'),
            mount('some', '/some'),
            mount('all', '/etc/app.conf', { subPath: 'b.txt' }),
            mount('picked', '/part', { subPath: 'deep' }),
          ],
        },
      ],
    },
    claims: [
      { claim: 'every key of a ConfigMap is a file', sh: 'ls /all', prints: 'a\nb.txt\nbin' },
      { claim: 'the file of a key has its value', sh: 'cat /all/a', prints: 'one' },
      { claim: 'binaryData of a ConfigMap is decoded', sh: 'stat -L -c %s /all/bin', prints: '3' },
      { claim: 'files of a ConfigMap have mode 0644 by default', sh: 'stat -L -c %a /all/a', prints: '644' },
      { claim: 'names in a ConfigMap volume lead through ..data', sh: 'readlink /all/a', prints: '..data/a' },
      { claim: '..data has the files of the current version', sh: 'cat /all/..data/b.txt', prints: 'two' },
      { claim: 'the top of a ConfigMap volume has mode 0777', sh: 'stat -c %a /all', prints: '777' },
      { claim: 'defaultMode is the mode of every file', sh: 'stat -L -c %a /strict/a', prints: '400' },
      { claim: 'items choose keys', sh: 'ls /picked', prints: 'deep' },
      { claim: 'the path of an item may have directories', sh: 'cat /picked/deep/er/renamed', prints: 'one' },
      { claim: 'the mode of an item wins', sh: 'stat -L -c %a /picked/deep/er/renamed', prints: '600' },
      { claim: 'an optional ConfigMap that is missing is an empty volume', sh: 'ls /none', prints: '' },
      { claim: 'a missing key of an optional ConfigMap is left out', sh: 'ls /some', prints: 'a' },
      {
        claim: 'containers cannot write to a ConfigMap volume',
        sh: 'touch /all/new 2>/dev/null || echo refused',
        prints: 'refused',
      },
      { claim: 'subPath mounts one file of a ConfigMap', sh: 'cat /etc/app.conf', prints: 'two' },
      { claim: 'subPath mounts one directory of a ConfigMap', sh: 'cat /part/er/renamed', prints: 'one' },
    ],
  },
  {
    name: 'secret-volume',
    secrets: [keys],
    spec: {
      volumes: [
        { name: 'all', secret: { secretName: 'keys' } },
        { name: 'strict', secret: { secretName: 'keys', defaultMode: 0o400 } },
        {
          name: 'picked',
          secret: { secretName: 'keys', items: [{ key: 'user', path: 'my-group/my-user', mode: 0o511 }] },
        },
        { name: 'none', secret: { secretName: 'none', optional: true } },
      ],
      containers: [
        {
          name: 'main',
          volumeMounts: [
            mount('all', '/all'),
            mount('strict', '/strict'),
            mount('picked', '/picked'),
            mount('none', '/none'),
            mount('all', '/etc/password', { subPath: 'password' }),
          ],
        },
      ],
    },
    claims: [
      { claim: 'every key of a Secret is a file', sh: 'ls /all', prints: 'password\nuser' },
      { claim: 'values of a Secret are decoded', sh: 'cat /all/user', prints: 'admin' },
      { claim: 'files of a Secret have mode 0644 by default', sh: 'stat -L -c %a /all/user', prints: '644' },
      {
        claim: 'names in a Secret volume lead through ..data',
        sh: 'readlink /all/user',
        prints: '..data/user',
      },
      {
        claim: 'defaultMode of a Secret is the mode of its files',
        sh: 'stat -L -c %a /strict/user',
        prints: '400',
      },
      {
        claim: 'a key of a Secret is at the path of its item',
        sh: 'cat /picked/my-group/my-user',
        prints: 'admin',
      },
      {
        claim: 'the mode of an item of a Secret wins',
        sh: 'stat -L -c %a /picked/my-group/my-user',
        prints: '511',
      },
      { claim: 'keys that no item names are left out', sh: 'ls /picked', prints: 'my-group' },
      { claim: 'an optional Secret that is missing is an empty volume', sh: 'ls /none', prints: '' },
      {
        claim: 'containers cannot write to a Secret volume',
        sh: 'touch /all/new 2>/dev/null || echo refused',
        prints: 'refused',
      },
      { claim: 'subPath mounts one file of a Secret', sh: 'cat /etc/password', prints: 's3cret' },
      { claim: 'the top of a Secret volume has mode 1777', sh: 'stat -c %a /all', prints: '1777' },
      {
        claim: 'Secrets are kept in memory, never on a disk of the node',
        sh: 'stat -f -c %T /all',
        prints: 'tmpfs',
        notSimulated: NO_DISK,
      },
    ],
  },
  {
    name: 'downward-volume',
    labels: { app: 'web', tier: 'a "quoted" one' },
    annotations: { build: 'two\nlines' },
    spec: {
      volumes: [
        {
          name: 'info',
          downwardAPI: {
            items: [
              { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
              { path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } },
              { path: 'one', fieldRef: { fieldPath: "metadata.labels['app']" } },
              { path: 'meta/name', fieldRef: { fieldPath: 'metadata.name' }, mode: 0o440 },
              { path: 'meta/namespace', fieldRef: { fieldPath: 'metadata.namespace' } },
              { path: 'meta/uid', fieldRef: { fieldPath: 'metadata.uid' } },
              { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
              {
                path: 'mcpu',
                resourceFieldRef: { containerName: 'main', resource: 'limits.cpu', divisor: '1m' },
              },
              {
                path: 'mem',
                resourceFieldRef: { containerName: 'main', resource: 'requests.memory', divisor: '1Mi' },
              },
              {
                path: 'free',
                resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Gi' },
              },
            ],
          },
        },
      ],
      containers: [
        {
          name: 'main',
          volumeMounts: [mount('info', '/info')],
          resources: { limits: { cpu: '1500m' }, requests: { memory: '32Mi' } },
        },
      ],
    },
    claims: [
      {
        claim: 'labels are lines of key="value", quoted and sorted',
        sh: 'cat /info/labels',
        prints: 'app="web"\ntier="a \\"quoted\\" one"',
      },
      {
        claim: 'line ends in annotations are escaped',
        sh: 'cat /info/annotations',
        prints: 'build="two\\nlines"',
      },
      { claim: 'one label can be a file', sh: 'cat /info/one', prints: 'web' },
      { claim: 'metadata.name can be a file', sh: 'cat /info/meta/name', prints: 'downward-volume' },
      { claim: 'metadata.namespace can be a file', sh: 'cat /info/meta/namespace', prints: 'default' },
      {
        claim: 'metadata.uid can be a file',
        sh: 'cat /info/meta/uid',
        prints: ({ metadata }) => metadata!.uid!,
      },
      { claim: 'an item of the downward API has a mode', sh: 'stat -L -c %a /info/meta/name', prints: '440' },
      { claim: 'other items have defaultMode', sh: 'stat -L -c %a /info/one', prints: '644' },
      { claim: 'limits.cpu is rounded up to whole cores', sh: 'cat /info/cpu', prints: '2' },
      { claim: 'a divisor sets the unit', sh: 'cat /info/mcpu', prints: '1500' },
      { claim: 'requests.memory in mebibytes', sh: 'cat /info/mem', prints: '32' },
      { claim: 'a limit that is not set is what the node can allocate', sh: 'cat /info/free', prints: '8' },
      {
        claim: 'names in a downward API volume lead through ..data',
        sh: 'readlink /info/meta',
        prints: '..data/meta',
      },
    ],
  },
  {
    name: 'projected-volume',
    configMaps: [settings],
    secrets: [keys],
    spec: {
      volumes: [
        {
          name: 'all',
          projected: {
            defaultMode: 0o440,
            sources: [
              { configMap: { name: 'settings', items: [{ key: 'a', path: 'conf/a' }] } },
              { secret: { name: 'keys', items: [{ key: 'user', path: 'conf/user', mode: 0o400 }] } },
              { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
              { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 7200 } },
              { configMap: { name: 'none', optional: true } },
            ],
          },
        },
      ],
      containers: [{ name: 'main', volumeMounts: [mount('all', '/all')] }],
    },
    claims: [
      {
        claim: 'sources of a projected volume share one directory',
        sh: 'ls /all /all/conf',
        prints: '/all:\nconf\nname\ntoken\n\n/all/conf:\na\nuser',
      },
      { claim: 'a projected ConfigMap has its value', sh: 'cat /all/conf/a', prints: 'one' },
      { claim: 'a projected Secret has its value', sh: 'cat /all/conf/user', prints: 'admin' },
      { claim: 'a projected field has its value', sh: 'cat /all/name', prints: 'projected-volume' },
      {
        claim: 'a projected token is for its audience and time',
        sh: 'cat /all/token',
        prints: 'token for vault of 7200 seconds',
      },
      {
        claim: 'defaultMode of a projected volume is the mode of its files',
        sh: 'stat -L -c %a /all/conf/a',
        prints: '440',
      },
      { claim: 'the mode of a projected item wins', sh: 'stat -L -c %a /all/conf/user', prints: '400' },
      {
        claim: 'names in a projected volume lead through ..data',
        sh: 'readlink /all/conf',
        prints: '..data/conf',
      },
    ],
  },
  {
    name: 'missing-sources',
    spec: { volumes: [{ name: 'v', configMap: { name: 'none' } }] },
    story: (run) => run.until('FailedMount', () => failedMount(run.events).length > 0),
    claims: [
      {
        claim: 'a missing ConfigMap is FailedMount',
        see: ({ events }) => failedMount(events),
        is: ['Warning FailedMount MountVolume.SetUp failed for volume "v" : configmap "none" not found'],
      },
      {
        claim: 'a pod whose volumes are missing stays Pending',
        see: ({ status }) => status.phase,
        is: 'Pending',
      },
      {
        claim: 'its containers wait as ContainerCreating',
        see: ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.reason,
        is: 'ContainerCreating',
      },
    ],
  },
  {
    name: 'missing-key',
    configMaps: [settings],
    spec: { volumes: [{ name: 'v', configMap: { name: 'settings', items: [{ key: 'no', path: 'no' }] } }] },
    story: (run) => run.until('FailedMount', () => failedMount(run.events).length > 0),
    claims: [
      {
        claim: 'a missing key that is not optional is FailedMount',
        see: ({ events }) => failedMount(events),
        is: [
          'Warning FailedMount MountVolume.SetUp failed for volume "v" : references non-existent config key: no',
        ],
      },
    ],
  },
];

/** Space of the pod's own. */
const scratchVolumes: readonly Behaviour[] = [
  {
    name: 'empty-dir',
    spec: {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      ],
      initContainers: [
        {
          name: 'first',
          command: ['/bin/sh', '-c', 'n=$(ls /v | wc -l); echo $n > /v/count; echo text > /v/file'],
          volumeMounts: [mount('v', '/v')],
        },
      ],
      containers: [
        {
          name: 'main',
          env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          volumeMounts: [
            mount('v', '/v'),
            mount('v', '/look', { readOnly: true }),
            mount('v', '/made', { subPath: 'new/deep' }),
            mount('v', '/expr', { subPathExpr: 'of/$(POD)' }),
            mount('memory', '/memory'),
          ],
        },
      ],
    },
    claims: [
      { claim: 'an emptyDir is empty at first', sh: 'cat /v/count', prints: '0' },
      { claim: 'containers of a pod share its emptyDir', sh: 'cat /v/file', prints: 'text' },
      { claim: 'anyone may write to an emptyDir', sh: 'stat -c %a /v', prints: '777' },
      {
        claim: 'a read-only mount shows what others write',
        sh: 'echo new > /v/new.txt; cat /look/new.txt',
        prints: 'new',
      },
      {
        claim: 'a read-only mount takes nothing',
        sh: 'touch /look/no 2>/dev/null || echo refused',
        prints: 'refused',
      },
      {
        claim: 'a subPath is a directory of its volume',
        sh: 'echo s > /made/s; cat /v/new/deep/s',
        prints: 's',
      },
      { claim: 'subPathExpr is expanded', sh: 'echo e > /expr/e; cat /v/of/empty-dir/e', prints: 'e' },
      {
        claim: 'an emptyDir of medium Memory can be written',
        sh: 'echo m > /memory/m; cat /memory/m',
        prints: 'm',
      },
      {
        claim: 'an emptyDir of medium Memory is a tmpfs',
        sh: 'stat -f -c %T /memory',
        prints: 'tmpfs',
        notSimulated: NO_DISK,
      },
      {
        claim: 'sizeLimit bounds an emptyDir of medium Memory',
        sh: 'dd if=/dev/zero of=/memory/big bs=1M count=3 2>/dev/null || echo full',
        prints: 'full',
        notSimulated: NO_DISK,
      },
    ],
  },
  {
    name: 'fs-group',
    configMaps: [settings],
    secrets: [keys],
    spec: {
      securityContext: { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000 },
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'config', configMap: { name: 'settings' } },
        { name: 'secret', secret: { secretName: 'keys', defaultMode: 0o400 } },
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
      containers: [
        {
          name: 'main',
          volumeMounts: [
            mount('v', '/v'),
            mount('config', '/config'),
            mount('secret', '/secret'),
            mount('token', '/token'),
          ],
        },
      ],
    },
    claims: [
      { claim: 'an emptyDir of a pod with fsGroup has the setgid bit', sh: 'stat -c %a /v', prints: '2777' },
      { claim: 'an emptyDir belongs to fsGroup', sh: 'stat -c %g /v', prints: '2000' },
      { claim: 'files of a ConfigMap belong to fsGroup', sh: 'stat -L -c %g /config/a', prints: '2000' },
      { claim: 'fsGroup may read files of mode 0400', sh: 'stat -L -c %a /secret/user', prints: '440' },
      { claim: 'a process of fsGroup reads the Secret', sh: 'cat /secret/user', prints: 'admin' },
      { claim: 'a token is for the group alone', sh: 'stat -L -c %a /token/token', prints: '640' },
      { claim: 'processes have fsGroup among their groups', sh: 'id -G', prints: '3000 2000' },
      {
        claim: 'new files in an emptyDir belong to fsGroup',
        sh: 'echo x > /v/x; stat -c %g /v/x',
        prints: '2000',
        notSimulated: NO_OWNERS,
      },
    ],
  },
  {
    name: 'token-of-a-user',
    secrets: [keys],
    spec: {
      securityContext: { runAsUser: 1000 },
      volumes: [
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
        { name: 'secret', secret: { secretName: 'keys', defaultMode: 0o600 } },
      ],
      containers: [{ name: 'main', volumeMounts: [mount('token', '/token'), mount('secret', '/secret')] }],
    },
    claims: [
      {
        claim: 'a token is for the one user of the pod alone',
        sh: 'stat -L -c %a /token/token',
        prints: '600',
      },
      { claim: 'the user of the pod owns its token', sh: 'stat -L -c %u /token/token', prints: '1000' },
      {
        claim: 'a file of mode 0600 is for its owner alone',
        sh: 'cat /secret/user 2>/dev/null || echo denied',
        prints: 'denied',
      },
      {
        claim: 'the user of the pod reads its token',
        sh: 'cat /token/token',
        prints: 'token for the API of 3600 seconds',
      },
    ],
  },
  {
    name: 'volume-restart',
    spec: {
      restartPolicy: 'OnFailure',
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        {
          name: 'main',
          command: [
            '/bin/sh',
            '-c',
            'if [ -e /v/ran ]; then ls /tmp; echo again; exit 0; fi; touch /v/ran /tmp/gone; exit 1',
          ],
          volumeMounts: [mount('v', '/v')],
        },
      ],
    },
    claims: [
      {
        claim: 'an emptyDir outlives its containers, their own files do not',
        see: ({ logs }) => logs['main'],
        is: ['again'],
      },
    ],
  },
  {
    name: 'host-path',
    notSimulated: 'simulated nodes have no files of their own',
    spec: {
      volumes: [{ name: 'v', hostPath: { path: '/etc/hostname', type: 'File' } }],
      containers: [{ name: 'main', volumeMounts: [mount('v', '/of-the-node', { readOnly: true })] }],
    },
    claims: [
      {
        claim: 'hostPath mounts a file of the node',
        sh: 'test -s /of-the-node && echo there',
        prints: 'there',
      },
    ],
  },
  {
    name: 'host-path-type',
    notSimulated: 'simulated nodes have no files of their own',
    spec: { volumes: [{ name: 'v', hostPath: { path: '/no/such/path', type: 'Directory' } }] },
    story: (run) => run.until('FailedMount', () => failedMount(run.events).length > 0),
    claims: [
      {
        claim: 'a hostPath of the wrong type is FailedMount',
        see: ({ events }) => failedMount(events),
        is: [
          'Warning FailedMount MountVolume.SetUp failed for volume "v" : hostPath type check failed: /no/such/path is not a directory',
        ],
      },
    ],
  },
];

export const volumeBehaviours: readonly Behaviour[] = [...objectVolumes, ...scratchVolumes];
