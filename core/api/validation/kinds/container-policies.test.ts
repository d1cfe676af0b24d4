import { expect, test } from 'vitest';
import type { Obj } from '../read.ts';
import { container, metadata, podSpec, texts } from '../testing/objects.ts';
import { PodRules } from './pod.ts';

const C = 'spec.containers[0]';
const errorsOf = (spec: Obj): string[] =>
  texts(PodRules.create({ metadata: metadata(), spec: podSpec(spec) }));
const of = (change: Obj): string[] => errorsOf({ containers: [container(change)] });
const mounted = (mount: Obj): Obj => ({ volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] });

test.each<[string, string[], readonly string[]]>([
  [
    'resize policies of other resources, twice, and with restarts of a pod that has none',
    errorsOf({
      restartPolicy: 'Never',
      containers: [
        container({
          resizePolicy: [
            { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
            { resourceName: 'cpu', restartPolicy: 'NotRequired' },
            { resourceName: 'gpu', restartPolicy: 'NotRequired' },
          ],
        }),
      ],
    }),
    [
      `${C}.resizePolicy: Invalid value: "RestartContainer": must be 'NotRequired' when pod \`restartPolicy\` is 'Never'`,
      `${C}.resizePolicy[1]: Duplicate value: "cpu"`,
      `${C}.resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"`,
    ],
  ],
  [
    'an unknown restart policy',
    of({ restartPolicy: '' }),
    [`${C}.restartPolicy: Unsupported value: "": supported values: "Always", "Never", "OnFailure"`],
  ],
  [
    'restart rules without a policy, an action and exit codes',
    of({ restartPolicyRules: [{ action: 'x' }] }),
    [
      `${C}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`,
      `${C}.restartPolicyRules[0].action: Unsupported value: "x": supported values: "Restart", "RestartAllContainers"`,
      `${C}.restartPolicyRules[0].exitCodes: Required value: must be specified`,
    ],
  ],
  [
    'an init container that is restarted to be resized',
    errorsOf({
      initContainers: [
        container({
          name: 'i',
          resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
        }),
      ],
    }),
    [
      `spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to 'RestartContainer' for non-sidecar initContainers`,
    ],
  ],
  [
    'a mount that is recursively read-only and can be written',
    errorsOf({
      containers: [container(mounted({ recursiveReadOnly: 'Enabled' }))],
      volumes: [{ name: 'v', emptyDir: {} }],
    }),
    [`${C}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`],
  ],
  [
    'an unmasked /proc of the users of the host',
    of({ securityContext: { procMount: 'Unmasked' } }),
    [
      `${C}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
    ],
  ],
  [
    'AppArmor profiles without a type, of an unknown one, and without a file',
    errorsOf({
      securityContext: { appArmorProfile: { type: 'Localhost' } },
      containers: [
        container({ securityContext: { appArmorProfile: {} } }),
        container({ name: 'b', securityContext: { appArmorProfile: { type: 'x' } } }),
      ],
    }),
    [
      `${C}.securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set`,
      'spec.containers[1].securityContext.appArmorProfile.type: Unsupported value: "x": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      'spec.securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost',
    ],
  ],
  [
    'an operating system that is none, and a host name that is too long and no name',
    errorsOf({ os: { name: 'beos' }, hostnameOverride: 'A'.repeat(65) }),
    [
      'spec.hostnameOverride: Too long: may not be more than 64 bytes',
      expect.stringContaining('spec.hostnameOverride: Invalid value'),
      'spec.os: Unsupported value: "beos": supported values: "linux", "windows"',
    ] as string[],
  ],
  [
    'overhead in what is no resource of containers',
    errorsOf({ overhead: { storage: '1Gi' } }),
    ['spec.overhead.limits[storage]: Invalid value: "storage": must be a standard resource for containers'],
  ],
  [
    'huge pages that are no whole number of pages',
    of({ resources: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' }, requests: { 'hugepages-2Mi': '3Mi' } } }),
    [
      `${C}.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      `${C}.resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
    ],
  ],
  [
    'a claim that the pod does not have, one without a name, and one that is named twice',
    errorsOf({
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'g' }],
      containers: [
        container({
          resources: {
            claims: [{ name: 'x' }, { name: '' }, { name: 'gpu', request: 'a' }, { name: 'gpu' }],
          },
        }),
      ],
    }),
    [
      `${C}.resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims: gpu`,
      `${C}.resources.claims[1]: Required value`,
      `${C}.resources.claims[3]: Duplicate value: "gpu"`,
    ],
  ],
  [
    'claims of a pod without a source, with two, and of the same name',
    errorsOf({
      resourceClaims: [
        { name: 'a' },
        { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' },
        { name: 'b', resourceClaimName: 'x' },
      ],
    }),
    [
      'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'spec.resourceClaims[1].name: Duplicate value: "a"',
      'spec.resourceClaims[1]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
    ],
  ],
  [
    'no huge pages are a whole number of them',
    of({ resources: { limits: { cpu: '1', 'hugepages-2Mi': '0' } } }),
    [],
  ],
])('%s', (_what, errors, expected) => {
  expect(errors).toEqual(expected);
});

test('an empty seccomp file is said, and one beside another type is refused', () => {
  expect(of({ securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: '' } } })).toEqual(
    [],
  );
  expect(of({ securityContext: { seccompProfile: { localhostProfile: '' } } })).toEqual([
    `${C}.securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set`,
    `${C}.securityContext.seccompProfile.localhostProfile: Invalid value: {"localhostProfile":""}: can only be set when seccomp type is Localhost`,
  ]);
});
