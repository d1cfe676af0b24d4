import type { KubernetesObject } from '../../../core/api/meta/index.ts';
import {
  TIMELINE_ENTRIES_MAX,
  TIMELINE_LANES,
  verbatim,
  type TimelineEntry,
} from '../../../core/contract/index.ts';
import { buildGraph, type GraphKind } from '../../../core/graph/index.ts';
import { placeGraph } from '../../../renderer/pages/graph/graph-layout.ts';
import { EntryTable } from '../../../renderer/pages/timeline/entry-table.ts';
import { LANE_HEIGHT, paintLane } from '../../../renderer/pages/timeline/lane-painter.ts';
import { printRow } from '../cluster/report.ts';

const GRAPH_OBJECTS = 500;
const GRAPH_GOAL_MS = 500;
const ZOOM_STEPS = 240;
/** Of the sixtieth of a second a frame has; drawing the pixels takes the rest. */
const FRAME_GOAL_MS = 8;
const WIDTH_PX = 2400;
const HOUR_MS = 3_600_000;

/** Applications of ten objects each, one in five of them broken, that share an account, a quota and a policy. */
const namespaceOf = (count: number): Map<GraphKind, KubernetesObject[]> => {
  const objects = new Map<GraphKind, KubernetesObject[]>();
  const add = (kind: GraphKind, name: string, rest: object, metadata: object = {}): void => {
    const list = objects.get(kind) ?? [];
    list.push({ kind, metadata: { namespace: 'bench', name, uid: `${kind}-${name}`, ...metadata }, ...rest });
    objects.set(kind, list);
  };
  add('ServiceAccount', 'robot', {});
  add('NetworkPolicy', 'closed', { spec: { podSelector: {}, ingress: [{}] } });
  add('ResourceQuota', 'team', { status: { hard: { pods: '1000' }, used: { pods: '300' } } });
  for (let app = 0; app * 10 < count - 3; app += 1) {
    const labels = { app: `app-${app}` };
    const owned = (kind: string, name: string) => ({
      labels,
      ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `${kind}-${name}`, controller: true }],
    });
    const name = `app-${app}`;
    const template = {
      metadata: { labels },
      spec: { serviceAccountName: 'robot', containers: [{ name: 'a' }] },
    };
    add('Deployment', name, { spec: { replicas: 4, template }, status: { readyReplicas: 4 } });
    add(
      'ReplicaSet',
      name,
      { spec: { replicas: 4, template }, status: { replicas: 4 } },
      owned('Deployment', name),
    );
    add('Service', name, {
      spec: { selector: app % 5 === 0 ? { app: 'gone' } : labels, ports: [{ port: 80 }] },
    });
    add('ConfigMap', name, { data: { a: '' } });
    add('Secret', name, { data: { a: '' } });
    add('PersistentVolumeClaim', name, { status: { phase: 'Bound' } });
    for (let pod = 0; pod < 4; pod += 1)
      add(
        'Pod',
        `${name}-${pod}`,
        {
          spec: {
            ...template.spec,
            nodeName: 'n',
            volumes: [
              // Pods that differ are not joined: all of them are placed.
              ...(pod === 0 ? [{ name: 'd', persistentVolumeClaim: { claimName: name } }] : []),
              ...(pod % 2 === 0 ? [{ name: 'c', configMap: { name } }] : []),
              ...(pod > 1 ? [{ name: 's', secret: { secretName: name } }] : []),
            ],
          },
          status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
        },
        owned('ReplicaSet', name),
      );
  }
  return objects;
};

const medianOf = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1] ?? NaN;

/** What the page does once objects are read: reasons, then places. In Node, which has the same engine. */
export const measureGraph = (): void => {
  const objects = namespaceOf(GRAPH_OBJECTS);
  const total = [...objects.values()].reduce((sum, list) => sum + list.length, 0);
  const times: number[] = [];
  let placed = 0;
  for (let turn = 0; turn < 5; turn += 1) {
    const startedMs = performance.now();
    const graph = buildGraph({ objects, unread: new Set(['Node']), placedPods: [], denials: [] }, undefined);
    placed = placeGraph(graph?.nodes ?? [], graph?.edges ?? []).nodes.length;
    times.push(performance.now() - startedMs);
  }
  printRow({
    name: `graph of ${total} objects: reasons and layout, first time`,
    value: times[0] ?? NaN,
    unit: 'ms',
    goal: GRAPH_GOAL_MS,
    note: `${placed} drawn`,
  });
  printRow({ name: 'the same, again', value: medianOf(times.slice(1)), unit: 'ms', goal: GRAPH_GOAL_MS });
};

const entriesOf = (count: number): TimelineEntry[] =>
  Array.from({ length: count }, (_, id) => ({
    id,
    lane: TIMELINE_LANES[id % TIMELINE_LANES.length]!,
    kind: 'event',
    severity: (['ok', 'info', 'warn', 'error'] as const)[id % 4]!,
    atMs: id * 36 + (id % 7) * 5,
    endMs: id % 50 === 0 ? id * 36 + 4000 : null,
    isOpen: false,
    title: verbatim(`entry ${id}`),
    detail: null,
    about: [],
    cause: null,
    source: null,
  })) as unknown as TimelineEntry[];

/** A zoom from an hour to a second over all entries: what scripts take for each frame. Pixels are not drawn here. */
export const measureTimeline = (): void => {
  const startedMs = performance.now();
  const table = new EntryTable(new Map(entriesOf(TIMELINE_ENTRIES_MAX).map((entry) => [entry.id, entry])));
  const builtMs = performance.now() - startedMs;
  const canvas = {
    fillRect: () => undefined,
    fillStyle: '',
    globalAlpha: 1,
  } as unknown as CanvasRenderingContext2D;
  const colours = { severities: ['a', 'b', 'c', 'd'] as const, line: '', text: '', related: '', now: '' };
  const times: number[] = [];
  for (let step = 0; step < ZOOM_STEPS; step += 1) {
    const spanMs = HOUR_MS * (1 - step / ZOOM_STEPS) + 1000;
    const place = {
      width: WIDTH_PX,
      range: { fromMs: HOUR_MS / 2 - spanMs / 2, toMs: HOUR_MS / 2 + spanMs / 2 },
      nowMs: HOUR_MS,
    };
    const frameMs = performance.now();
    for (const [index, columns] of table.lanes.entries())
      paintLane(canvas, columns, { top: index * LANE_HEIGHT, place, colours, isDim: false });
    times.push(performance.now() - frameMs);
  }
  const worst = Math.max(...times);
  printRow({
    name: `timeline of ${TIMELINE_ENTRIES_MAX} entries: a frame of a zoom`,
    value: medianOf(times),
    unit: 'ms',
    goal: FRAME_GOAL_MS,
    note: `worst ${worst.toFixed(1)} ms, ${Math.floor(1000 / worst)} frames/s at worst; table built in ${builtMs.toFixed(0)} ms`,
  });
};
