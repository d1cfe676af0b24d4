import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { asStranger, isRoot } from './default-cluster.ts';

const data = inject('attackedData');

test.runIf(isRoot).each(['pki/ca.key', 'kubeconfig/admin.conf', 'hosts/cp-1/etcd', 'cluster.yaml'])(
  'a local user cannot read %s',
  async (path) => {
    const { code, stderr } = await asStranger('/bin/ls', [join(data, path)]);
    expect({ code, isDenied: stderr.includes('Permission denied') }).toEqual({ code: 2, isDenied: true });
  },
);
