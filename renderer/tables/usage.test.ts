import { expect, test } from 'vitest';
import { cpuText, memoryText, usageByKey } from './usage.ts';

test('a pod uses what its containers use together, a node what it says, written as kubectl top does', () => {
  const usage = usageByKey({
    items: [
      {
        metadata: { namespace: 'shop', name: 'web' },
        containers: [
          { name: 'a', usage: { cpu: '250123456n', memory: '65536Ki' } },
          { name: 'b', usage: { cpu: '1m', memory: '1Mi' } },
        ],
      },
      { metadata: { name: 'worker-1' }, usage: { cpu: '2', memory: '1Gi' } },
    ],
  });
  const written = [...usage].map(([key, each]) => `${key} ${cpuText(each)} ${memoryText(each)}`);
  expect(written).toEqual(['shop/web 252m 65Mi', '/worker-1 2000m 1024Mi']);
});
