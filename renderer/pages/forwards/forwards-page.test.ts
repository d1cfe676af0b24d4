// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import { type ClusterList, type PortForward } from '../../../core/contract/index.ts';
import { click, feed, mount, settle, testConnection, type Mounted } from '../../testing/mount.ts';
import ForwardsPage from './ForwardsPage.vue';

const forward: PortForward = {
  id: 'f1',
  cluster: '/k#prod',
  namespace: 'shop',
  pod: 'web-1',
  remotePort: 80,
  localPort: 18080,
  connections: 2,
  bytes: 2048,
  problem: null,
  isWaiting: false,
};

let mounted: Mounted | undefined;
afterEach(() => {
  mounted?.unmount();
  mounted = undefined;
});
const show = async (forwards: readonly PortForward[]) => {
  const closed: string[] = [];
  const connection = testConnection({
    'clusters.watch': feed<ClusterList>({ clusters: [], problems: [] }).handler,
    'forwards.watch': feed([...forwards]).handler,
    'forwards.close': ({ id }) => {
      closed.push(id);
      return Promise.resolve(undefined);
    },
  });
  mounted = await mount(ForwardsPage, connection);
  await settle();
  return { root: mounted.root, closed, text: (): string => mounted?.root.textContent ?? '' };
};

test('a forwarded port shows where it leads, and is closed by its button; every column has a name', async () => {
  const { root, closed, text } = await show([forward]);
  expect(text()).toContain('shop/web-1:80');
  expect(text()).toContain('http://127.0.0.1:18080');
  // A pod's name can be longer than its column, and the port comes last.
  expect(root.querySelector('[title="shop/web-1:80"]')).not.toBeNull();
  const heads = [...root.querySelectorAll('th[scope=col]')].map((head) => head.textContent?.trim());
  expect([heads.length, heads.filter((name) => !name)]).toEqual([7, []]);
  await click(root, 'Close port 18080');
  expect(closed).toEqual(['f1']);
});

test('without a port the page says where one is forwarded', async () => {
  const { text } = await show([]);
  expect(text()).toContain('No forwarded ports');
  expect(text()).toContain('choose Ports');
});
