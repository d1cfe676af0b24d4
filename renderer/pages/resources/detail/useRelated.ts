import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref } from 'vue';
import type { TableQuery, TableRow } from '../../../../core/contract/index.ts';
import { useCall } from '../../../composables/useCall.ts';
import { probeKinds, type ProbeFailure, type Related } from '../../../kinds/details/index.ts';
import { listAt, textAt, type KubeObject } from '../../../kinds/kube-object.ts';
import { objectPath } from '../../../kinds/object-path.ts';
import { durationSeconds } from '../../../tables/duration.ts';
import { useTable } from '../../../tables/useTable.ts';

/** Lists carry cells; whole objects are read again after a change, not more often than this. */
const READ_PAUSE_MS = 1000;
const PAGE_OBJECTS = 250;
const PAGES_MAX = 4;
const SLICES = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespaced: true };
const PODS = { group: '', version: 'v1', plural: 'pods', namespaced: true };

const byKey = () =>
  shallowRef({ keyOf: (row: TableRow) => row.key, isDescending: false, isShown: () => true });

/** The objects at a path, as they were after the last change that `changed` told of. */
const useObjects = (
  cluster: string,
  path: string,
  query: Readonly<Record<string, string>>,
  changed: () => unknown,
): Ref<readonly KubeObject[] | undefined> => {
  const ask = useCall('kube.request');
  const objects = shallowRef<readonly KubeObject[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  let isStale = false;

  const readAll = async (): Promise<readonly KubeObject[] | undefined> => {
    const found: KubeObject[] = [];
    let next = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const result = await ask.run({
        cluster,
        method: 'GET',
        path,
        query: { ...query, limit: `${PAGE_OBJECTS}`, ...(next !== '' && { continue: next }) },
      });
      // What cannot be read stays as it was; the list beside it says why.
      if (!result.ok || !result.value.ok) return undefined;
      found.push(...listAt(result.value.body, 'items'));
      next = textAt(result.value.body, 'metadata', 'continue');
      if (next === '') break;
    }
    return found;
  };
  const read = async (): Promise<void> => {
    if (isReading) return void (isStale = true);
    isReading = true;
    isStale = false;
    objects.value = (await readAll()) ?? objects.value;
    isReading = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (isStale) void read();
    }, READ_PAUSE_MS);
  };
  watch(
    changed,
    () => {
      if (timer === undefined) void read();
      else isStale = true;
    },
    { immediate: true },
  );
  onScopeDispose(() => clearTimeout(timer));
  return objects;
};

/** Pods that a selector chooses, as they were after the last change of their list. */
export const useSelectedPods = (
  cluster: string,
  namespace: string,
  labelSelector: string,
): Ref<readonly KubeObject[] | undefined> => {
  const table = useTable({ cluster, resource: PODS, namespace, labelSelector, fieldSelector: '' }, byKey());
  return useObjects(cluster, objectPath(PODS, namespace), { labelSelector }, () => table.rows.value);
};

const PROBE_FAILED = /^(Startup|Readiness|Liveness) probe (?:failed|errored)[^:]*: ?(.*)$/s;
const CONTAINER_PATH = /^spec\.\w+\{(.+)\}$/;

/** The newest failure of each probe, from the events that the kubelet writes about them. */
const useProbeFailures = (query: TableQuery): ComputedRef<readonly ProbeFailure[]> => {
  const table = useTable(query, byKey());
  // A cell says how long ago it was when it arrived.
  const seenAtMs = new WeakMap<TableRow, number>();
  return computed(() => {
    const indexOf = (name: string): number => table.columns.value.findIndex((each) => each.name === name);
    const [message, subobject, seen] = [indexOf('Message'), indexOf('Subobject'), indexOf('Last Seen')];
    const newest = new Map<string, ProbeFailure>();
    for (const row of table.rows.value) {
      const [, word, text] = PROBE_FAILED.exec(String(row.cells[message] ?? '')) ?? [];
      const [, container] = CONTAINER_PATH.exec(String(row.cells[subobject] ?? '')) ?? [];
      const probe = probeKinds.find((kind) => kind === word?.toLowerCase());
      if (probe === undefined) continue;
      const atMs = seenAtMs.get(row) ?? Date.now() - durationSeconds(String(row.cells[seen] ?? '')) * 1000;
      seenAtMs.set(row, atMs);
      const key = `${container ?? ''}\n${probe}`;
      if ((newest.get(key)?.atMs ?? -Infinity) < atMs)
        newest.set(key, { container: container ?? '', probe, message: text ?? '', atMs });
    }
    return [...newest.values()];
  });
};

/** What is read beside an object of this kind. `podsChanged` tells when the list of its pods moved. */
export const useRelated = (
  cluster: string,
  object: KubeObject,
  podsChanged: () => unknown,
): ComputedRef<Related> => {
  const name = textAt(object, 'metadata', 'name');
  const namespace = textAt(object, 'metadata', 'namespace');
  switch (textAt(object, 'kind')) {
    case 'Service': {
      const labelSelector = `kubernetes.io/service-name=${name}`;
      const table = useTable(
        { cluster, resource: SLICES, namespace, labelSelector, fieldSelector: '' },
        byKey(),
      );
      const slices = useObjects(
        cluster,
        objectPath(SLICES, namespace),
        { labelSelector },
        () => table.rows.value,
      );
      return computed(() => ({ endpointSlices: slices.value }));
    }
    case 'Node': {
      const pods = useObjects(
        cluster,
        objectPath(PODS, ''),
        { fieldSelector: `spec.nodeName=${name}` },
        podsChanged,
      );
      return computed(() => ({ pods: pods.value }));
    }
    case 'Pod': {
      const failures = useProbeFailures({
        cluster,
        resource: { group: '', version: 'v1', plural: 'events' },
        namespace,
        labelSelector: '',
        fieldSelector: `involvedObject.uid=${textAt(object, 'metadata', 'uid')},reason=Unhealthy`,
      });
      return computed(() => ({ probeFailures: failures.value }));
    }
    default:
      return computed(() => ({}));
  }
};
