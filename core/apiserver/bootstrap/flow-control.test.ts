import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { ensureFlowControl } from './flow-control.ts';
import { memoryWriter } from './testing/memory-writer.ts';

const LEVELS = { group: 'flowcontrol.apiserver.k8s.io', resource: 'prioritylevelconfigurations' };
const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec';

/** A level of a cluster that was set up, edited, and looked at again. */
const afterEdit = async (name: string, edit: (level: KubernetesObject) => void) => {
  const writer = memoryWriter();
  await ensureFlowControl(writer);
  const level = structuredClone(await writer.get(LEVELS, '', name))!;
  edit(level);
  writer.put(LEVELS, level);
  writer.writes.length = 0;
  await ensureFlowControl(writer);
  const { spec, metadata } = (await writer.get(LEVELS, '', name))!;
  return { spec, autoUpdate: metadata?.annotations?.[AUTO_UPDATE], writes: writer.writes.length };
};
const setShares = (kind: 'limited' | 'exempt') => (level: KubernetesObject) => {
  (level['spec'] as Record<string, { nominalConcurrencyShares: number }>)[kind]!.nominalConcurrencyShares = 7;
};

test('a mandatory level is put back whatever its annotation says', async () => {
  const { spec, autoUpdate } = await afterEdit('catch-all', (level) => {
    setShares('limited')(level);
    level.metadata!.annotations = { [AUTO_UPDATE]: 'false' };
  });
  expect([spec, autoUpdate]).toMatchObject([{ limited: { nominalConcurrencyShares: 5 } }, 'true']);
});

test("the shares of the exempt level are its operator's", async () => {
  expect(await afterEdit('exempt', setShares('exempt'))).toMatchObject({
    spec: { exempt: { nominalConcurrencyShares: 7 } },
    writes: 0,
  });
});

test('a suggested level is put back while the server keeps it, and left where somebody took it over', async () => {
  const kept = await afterEdit('system', setShares('limited'));
  const taken = await afterEdit('system', (level) => {
    setShares('limited')(level);
    level.metadata!.annotations = { [AUTO_UPDATE]: 'false' };
  });
  expect([kept.spec, taken.spec]).toMatchObject([
    { limited: { nominalConcurrencyShares: 30 } },
    { limited: { nominalConcurrencyShares: 7 } },
  ]);
});

test("a suggested level that was edited before the annotation existed is its editor's", async () => {
  const { spec, autoUpdate } = await afterEdit('system', (level) => {
    setShares('limited')(level);
    level.metadata = { ...level.metadata, annotations: {}, generation: 2 };
  });
  expect([spec, autoUpdate]).toMatchObject([{ limited: { nominalConcurrencyShares: 7 } }, 'false']);
});
