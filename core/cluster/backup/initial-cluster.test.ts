import { expect, test } from 'vitest';
import { withInitialCluster } from './initial-cluster.ts';

test('a member that joined later starts from a restored state as one of those that are there now', () => {
  const manifest = [
    '    - --initial-advertise-peer-urls=https://127.1.0.4:2380',
    '    - --initial-cluster=cp-1=https://127.1.0.1:2380,cp-4=https://127.1.0.4:2380',
    '    - --initial-cluster-state=existing # mine',
    '    - --name=cp-4',
  ].join('\n');
  expect(withInitialCluster(manifest, 'cp-2=https://127.1.0.2:2380,cp-4=https://127.1.0.4:2380')).toBe(
    [
      '    - --initial-advertise-peer-urls=https://127.1.0.4:2380',
      '    - --initial-cluster=cp-2=https://127.1.0.2:2380,cp-4=https://127.1.0.4:2380',
      '    - --initial-cluster-state=new # mine',
      '    - --name=cp-4',
    ].join('\n'),
  );
});
