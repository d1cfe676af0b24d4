import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { ensureFlowSchemaStatus } from './flow-schema-status.ts';
import { memoryWriter } from './testing/memory-writer.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const LEVELS = { group: GROUP, resource: 'prioritylevelconfigurations' };
const SCHEMAS = { group: GROUP, resource: 'flowschemas' };
const schema = (name: string, level: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'FlowSchema',
  metadata: { name },
  spec: { priorityLevelConfiguration: { name: level } },
});

test('a flow schema tells whether its priority level exists, and is written only when that changes', async () => {
  const writer = memoryWriter();
  const clock = manualClock();
  const conditionsOf = async (name: string): Promise<unknown> =>
    ((await writer.get(SCHEMAS, '', name))!['status'] as { conditions: unknown[] }).conditions;
  writer.put(LEVELS, {
    apiVersion: `${GROUP}/v1`,
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'here' },
  });
  writer.put(SCHEMAS, schema('good', 'here'));
  writer.put(SCHEMAS, schema('bad', 'gone'));
  await ensureFlowSchemaStatus(writer, clock);
  expect([await conditionsOf('good'), await conditionsOf('bad')]).toMatchObject([
    [
      {
        type: 'Dangling',
        status: 'False',
        reason: 'Found',
        message:
          'This FlowSchema references the PriorityLevelConfiguration object named "here" and it exists',
      },
    ],
    [
      {
        type: 'Dangling',
        status: 'True',
        reason: 'NotFound',
        message:
          'This FlowSchema references the PriorityLevelConfiguration object named "gone" but there is no such object',
      },
    ],
  ]);
  writer.writes.length = 0;
  await ensureFlowSchemaStatus(writer, clock);
  expect(writer.writes).toEqual([]);
});
