import { expect, test } from 'vitest';
import { errorText } from '../../field/field-error.ts';
import { volumeSourceErrors } from './persistent-volume-sources.ts';

const errorsOf = (spec: Record<string, unknown>): string[] =>
  volumeSourceErrors('spec', spec, 'pv').map(errorText);

test.each<[Record<string, unknown>, readonly string[]]>([
  [{}, ['spec: Required value: must specify a volume type']],
  [
    { hostPath: { path: '/a/../b' } },
    ['spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
  ],
  [
    { gcePersistentDisk: { partition: 256 } },
    [
      'spec.persistentDisk.pdName: Required value',
      'spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
    ],
  ],
  [
    { flocker: {}, cephfs: { monitors: ['a'] }, cinder: { volumeID: 'a' }, flexVolume: { driver: 'a' } },
    [
      'spec.flocker: Required value: one of datasetName and datasetUUID is required',
      'spec.cephFS: Forbidden: may not specify more than 1 volume type',
      'spec.cinder: Forbidden: may not specify more than 1 volume type',
    ],
  ],
  [
    { nfs: { server: 'a' } },
    ['spec.nfs.path: Required value', 'spec.nfs.path: Invalid value: "": must be an absolute path'],
  ],
  [
    { quobyte: { registry: 'a', volume: 'v' } },
    [
      'spec.quobyte.registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas',
    ],
  ],
  [
    { iscsi: { targetPortal: 'a', iqn: 'iqn.2001-04.com.example:disk', lun: 256, chapAuthSession: true } },
    [
      'spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
      'spec.iscsi.secretRef: Required value',
    ],
  ],
  [
    { fc: { targetWWNs: ['a'] } },
    ['spec.fc.lun: Required value: lun is required if targetWWNs is specified'],
  ],
  [
    { flexVolume: { driver: 'a', options: { 'x.kubernetes.io/a': 'b', c: 'd' } } },
    [
      'spec.flexVolume.options[x.kubernetes.io/a]: Invalid value: "x.kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved',
    ],
  ],
  [
    { azureDisk: { diskName: 'a', diskURI: 'b', kind: 'Managed' } },
    [
      'spec.azureDisk.diskURI: Unsupported value: "b": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
    ],
  ],
  [
    { csi: { driver: 'a', nodeStageSecretRef: {}, nodePublishSecretRef: { name: 's' } } },
    ['spec.csi.volumeHandle: Required value', 'spec.csi.nodePublishSecretRef.namespace: Required value'],
  ],
  [{ csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'v' } }, []],
])('%j is validated as upstream does', (spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});
