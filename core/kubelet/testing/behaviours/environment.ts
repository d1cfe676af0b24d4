import type { Behaviour } from './behaviour.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const amount = (name: string, resource: string, divisor?: string) => ({
  name,
  valueFrom: { resourceFieldRef: { resource, ...(divisor !== undefined && { divisor }) } },
});

export const environmentBehaviours: readonly Behaviour[] = [
  {
    name: 'variables',
    spec: {
      containers: [
        {
          name: 'main',
          env: [
            { name: 'A', value: 'one' },
            { name: 'B', value: '$(A) and $(A)' },
            { name: 'C', value: '$$(A)' },
            { name: 'D', value: '$(UNKNOWN)' },
            { name: 'E', value: '$(LATER)' },
            { name: 'LATER', value: 'late' },
            { name: 'EMPTY' },
            { name: 'A2', value: 'first' },
            { name: 'A2', value: 'second' },
          ],
        },
      ],
    },
    claims: [
      { claim: 'a variable has its value', sh: 'echo "$A"', prints: 'one' },
      { claim: '$(NAME) refers to a variable before it', sh: 'echo "$B"', prints: 'one and one' },
      { claim: '$$(NAME) is no reference', sh: 'echo "$C"', prints: '$(A)' },
      { claim: 'a reference to nothing stays as it is', sh: 'echo "$D"', prints: '$(UNKNOWN)' },
      { claim: 'a reference to a later variable stays as it is', sh: 'echo "$E"', prints: '$(LATER)' },
      { claim: 'a variable without a value is empty', sh: 'echo "$EMPTY"', prints: '' },
      { claim: 'of two variables of one name the last wins', sh: 'echo "$A2"', prints: 'second' },
      { claim: 'HOSTNAME is the name of the pod', sh: 'echo "$HOSTNAME"', prints: 'variables' },
      {
        claim: 'the environment of the image stays',
        sh: 'echo "$PATH"',
        prints: '/bin',
        notSimulated: 'simulated images have no configuration',
      },
    ],
  },
  {
    name: 'downward-variables',
    labels: { app: 'web' },
    annotations: { 'example.com/build': '7' },
    spec: {
      containers: [
        {
          name: 'main',
          resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '250m', memory: '32Mi' } },
          env: [
            field('NAME', 'metadata.name'),
            field('NAMESPACE', 'metadata.namespace'),
            field('POD_UID', 'metadata.uid'),
            field('NODE', 'spec.nodeName'),
            field('ACCOUNT', 'spec.serviceAccountName'),
            field('HOST_IP', 'status.hostIP'),
            field('HOST_IPS', 'status.hostIPs'),
            field('POD_IP', 'status.podIP'),
            field('POD_IPS', 'status.podIPs'),
            field('LABEL', "metadata.labels['app']"),
            field('ANNOTATION', "metadata.annotations['example.com/build']"),
            amount('CPU_LIMIT', 'limits.cpu'),
            amount('CPU_MILLI', 'limits.cpu', '1m'),
            amount('CPU_REQUEST', 'requests.cpu', '1m'),
            amount('MEMORY_LIMIT', 'limits.memory'),
            amount('MEMORY_MEBI', 'requests.memory', '1Mi'),
          ],
        },
        {
          name: 'free',
          command: ['/bin/sh', '-c', 'echo "$CPU"; echo "$GIBI"'],
          env: [amount('CPU', 'limits.cpu'), amount('GIBI', 'limits.memory', '1Gi')],
        },
      ],
    },
    claims: [
      { claim: 'metadata.name as a variable', sh: 'echo "$NAME"', prints: 'downward-variables' },
      { claim: 'metadata.namespace as a variable', sh: 'echo "$NAMESPACE"', prints: 'default' },
      {
        claim: 'metadata.uid as a variable',
        sh: 'echo "$POD_UID"',
        prints: ({ metadata }) => metadata!.uid!,
      },
      { claim: 'spec.nodeName as a variable', sh: 'echo "$NODE"', prints: 'n1' },
      { claim: 'spec.serviceAccountName as a variable', sh: 'echo "$ACCOUNT"', prints: 'builder' },
      { claim: 'status.hostIP as a variable', sh: 'echo "$HOST_IP"', prints: (_, { hostIP }) => hostIP! },
      { claim: 'status.hostIPs as a variable', sh: 'echo "$HOST_IPS"', prints: (_, { hostIP }) => hostIP! },
      { claim: 'status.podIP as a variable', sh: 'echo "$POD_IP"', prints: (_, { podIP }) => podIP! },
      {
        claim: 'status.podIPs as a variable',
        sh: 'echo "$POD_IPS"',
        prints: (_, { podIPs }) => podIPs!.map(({ ip }) => ip).join(','),
      },
      { claim: 'one label as a variable', sh: 'echo "$LABEL"', prints: 'web' },
      { claim: 'one annotation as a variable', sh: 'echo "$ANNOTATION"', prints: '7' },
      { claim: 'limits.cpu as a variable is rounded up', sh: 'echo "$CPU_LIMIT"', prints: '1' },
      { claim: 'limits.cpu as a variable in thousandths', sh: 'echo "$CPU_MILLI"', prints: '500' },
      { claim: 'requests.cpu as a variable in thousandths', sh: 'echo "$CPU_REQUEST"', prints: '250' },
      { claim: 'limits.memory as a variable in bytes', sh: 'echo "$MEMORY_LIMIT"', prints: '67108864' },
      { claim: 'requests.memory as a variable in mebibytes', sh: 'echo "$MEMORY_MEBI"', prints: '32' },
      {
        claim: 'limits that are not set are what the node can allocate',
        see: ({ logs }) => logs['free'],
        is: ['4', '8'],
      },
    ],
  },
  {
    name: 'referenced-variables',
    configMaps: [{ metadata: { name: 'c' }, data: { key: 'from c', other: 'too', both: 'c' } }],
    secrets: [{ metadata: { name: 's' }, data: { pass: base64('from s'), both: base64('s') } }],
    spec: {
      containers: [
        {
          name: 'main',
          envFrom: [
            { configMapRef: { name: 'c' } },
            { secretRef: { name: 's' } },
            { prefix: 'P_', configMapRef: { name: 'c' } },
            { configMapRef: { name: 'none', optional: true } },
            { secretRef: { name: 'none', optional: true } },
          ],
          env: [
            { name: 'ONE', valueFrom: { configMapKeyRef: { name: 'c', key: 'key' } } },
            { name: 'TWO', valueFrom: { secretKeyRef: { name: 's', key: 'pass' } } },
            { name: 'THREE', valueFrom: { configMapKeyRef: { name: 'c', key: 'none', optional: true } } },
            { name: 'FOUR', valueFrom: { secretKeyRef: { name: 'none', key: 'none', optional: true } } },
            { name: 'other', value: 'of env' },
            { name: 'JOINED', value: '$(ONE), $(key)' },
          ],
        },
      ],
    },
    claims: [
      { claim: 'configMapKeyRef is the value of a key', sh: 'echo "$ONE"', prints: 'from c' },
      { claim: 'secretKeyRef is the decoded value of a key', sh: 'echo "$TWO"', prints: 'from s' },
      {
        claim: 'an optional key that is missing leaves the variable out',
        sh: 'echo "${THREE:-unset}"',
        prints: 'unset',
      },
      {
        claim: 'an optional Secret that is missing leaves the variable out',
        sh: 'echo "${FOUR:-unset}"',
        prints: 'unset',
      },
      { claim: 'envFrom takes every key of a ConfigMap', sh: 'echo "$key"', prints: 'from c' },
      { claim: 'envFrom takes every key of a Secret', sh: 'echo "$pass"', prints: 'from s' },
      { claim: 'envFrom puts its prefix before names', sh: 'echo "$P_key"', prints: 'from c' },
      { claim: 'the last source of envFrom wins', sh: 'echo "$both"', prints: 's' },
      { claim: 'env wins over envFrom', sh: 'echo "$other"', prints: 'of env' },
      { claim: 'values may refer to envFrom', sh: 'echo "$JOINED"', prints: 'from c, from c' },
    ],
  },
  {
    name: 'missing-variable',
    configMaps: [{ metadata: { name: 'c' }, data: {} }],
    spec: {
      containers: [
        { name: 'main', env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'no' } } }] },
      ],
    },
    story: (run) =>
      run.until(
        'a reason',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
      ),
    claims: [
      {
        claim: 'a missing key that is not optional is CreateContainerConfigError',
        see: ({ status }) => status.containerStatuses?.[0]?.state?.waiting,
        is: { reason: 'CreateContainerConfigError', message: "couldn't find key no in ConfigMap default/c" },
      },
      {
        claim: 'it is told as event Failed',
        see: ({ events }) =>
          events.includes("Warning Failed Error: couldn't find key no in ConfigMap default/c"),
        is: true,
      },
    ],
  },
  {
    name: 'missing-env-from',
    spec: { containers: [{ name: 'main', envFrom: [{ secretRef: { name: 'none' } }] }] },
    story: (run) =>
      run.until(
        'a reason',
        () => run.status().containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
      ),
    claims: [
      {
        claim: 'a Secret of envFrom that is missing is CreateContainerConfigError',
        see: ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.message,
        is: 'secret "none" not found',
      },
    ],
  },
  {
    name: 'service-variables',
    services: [
      {
        metadata: { name: 'redis-primary', namespace: 'default' },
        spec: { clusterIP: '10.96.7.7', ports: [{ port: 6379, protocol: 'TCP', name: 'db' }] },
      },
      {
        metadata: { name: 'headless', namespace: 'default' },
        spec: { clusterIP: 'None', ports: [{ port: 1, protocol: 'TCP' }] },
      },
    ],
    spec: { enableServiceLinks: true },
    claims: [
      {
        claim: 'a Service is a variable with its address',
        sh: 'echo "$REDIS_PRIMARY_SERVICE_HOST"',
        prints: '10.96.7.7',
      },
      {
        claim: 'a Service is a variable with its port',
        sh: 'echo "$REDIS_PRIMARY_SERVICE_PORT"',
        prints: '6379',
      },
      {
        claim: 'a named port has a variable of its own',
        sh: 'echo "$REDIS_PRIMARY_SERVICE_PORT_DB"',
        prints: '6379',
      },
      {
        claim: 'variables of links are made',
        sh: 'echo "$REDIS_PRIMARY_PORT_6379_TCP"',
        prints: 'tcp://10.96.7.7:6379',
      },
      { claim: 'a link names its protocol', sh: 'echo "$REDIS_PRIMARY_PORT_6379_TCP_PROTO"', prints: 'tcp' },
      {
        claim: 'a headless Service has no variables',
        sh: 'echo "${HEADLESS_SERVICE_HOST:-unset}"',
        prints: 'unset',
      },
      {
        claim: 'the API server is always a variable',
        sh: 'echo "$KUBERNETES_SERVICE_HOST"',
        prints: '10.96.0.1',
      },
    ],
  },
  {
    name: 'no-service-variables',
    services: [
      {
        metadata: { name: 'redis', namespace: 'default' },
        spec: { clusterIP: '10.96.7.7', ports: [{ port: 6379 }] },
      },
    ],
    spec: { enableServiceLinks: false },
    claims: [
      {
        claim: 'without enableServiceLinks Services are no variables',
        sh: 'echo "${REDIS_SERVICE_HOST:-unset}"',
        prints: 'unset',
      },
      {
        claim: 'the API server is a variable all the same',
        sh: 'echo "$KUBERNETES_SERVICE_HOST"',
        prints: '10.96.0.1',
      },
    ],
  },
  {
    name: 'command-line',
    spec: {
      containers: [
        {
          name: 'main',
          env: [{ name: 'WHO', value: 'world' }],
          command: ['/bin/sh', '-c', 'echo "$0 $1 $2"; pwd'],
          args: ['hello', '$(WHO)', '$$(WHO)'],
          workingDir: '/tmp',
        },
      ],
    },
    claims: [
      {
        claim: 'args follow command, and references in them are expanded',
        see: ({ logs }) => logs['main']?.[0],
        is: 'hello world $(WHO)',
      },
      { claim: 'workingDir is where the process starts', see: ({ logs }) => logs['main']?.[1], is: '/tmp' },
    ],
  },
];
