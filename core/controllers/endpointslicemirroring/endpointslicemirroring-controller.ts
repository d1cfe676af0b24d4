import { isDeepStrictEqual } from 'node:util';
import { isNotFound, objectKey, type ObjectMeta } from '../../api/meta/index.ts';
import { controllerReference, ENDPOINT_SLICE, ENDPOINTS, SERVICE } from '../../client/index.ts';
import type { Endpoints, EndpointSlice, Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import { planSlices } from '../endpointslice/plan-slices.ts';
import type { IpFamily } from '../endpointslice/service-pods.ts';
import { MANAGED_BY_LABEL, SERVICE_NAME_LABEL } from '../endpointslice/slice-meta.ts';
import { SliceTracker } from '../endpointslice/slice-tracker.ts';
import { TRIGGER_TIME_ANNOTATION } from '../endpointslice/trigger-times.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { isNamespaceTerminating } from '../serviceaccount/serviceaccount-controller.ts';
import { isMirrored, mirroredGroups, SUBSET_ADDRESSES_MAX } from './mirrored-endpoints.ts';

const MANAGED_BY = 'endpointslicemirroring-controller.k8s.io';
const FAMILIES: readonly IpFamily[] = ['IPv4', 'IPv6'];
const WORKERS = 5;
const RETRIES_MAX = 15;
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  TRIGGER_TIME_ANNOTATION,
  'kubectl.kubernetes.io/last-applied-configuration',
]);

const isOurs = ({ metadata }: Stored<EndpointSlice>): boolean =>
  metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY;
const serviceKeyOf = ({ metadata }: Stored<EndpointSlice>): string =>
  `${metadata.namespace ?? ''}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ''}`;

const metaOf = (endpoints: Stored<Endpoints>): Required<Pick<ObjectMeta, 'labels' | 'annotations'>> => ({
  labels: {
    ...endpoints.metadata.labels,
    [SERVICE_NAME_LABEL]: endpoints.metadata.name,
    [MANAGED_BY_LABEL]: MANAGED_BY,
  },
  annotations: Object.fromEntries(
    Object.entries(endpoints.metadata.annotations ?? {}).filter(([name]) => !OWN_ANNOTATIONS.has(name)),
  ),
});

/** Mirrors Endpoints that people wrote into slices, which is all that proxies read. */
export const endpointSliceMirroringController: ControllerDefinition<ControllerSettings> = {
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  serviceAccount: 'endpointslicemirroring-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers } = context;
    const endpoints = informers.informer(ENDPOINTS);
    const services = informers.informer(SERVICE);
    const slices = informers.informer(ENDPOINT_SLICE, {
      indexers: { mirror: (slice) => (isOurs(slice) ? [serviceKeyOf(slice)] : []) },
    });
    const tracker = new SliceTracker();

    const remove = async (key: string, { metadata }: Stored<EndpointSlice>): Promise<void> => {
      tracker.dropped(key, metadata.uid);
      try {
        await client.resource(ENDPOINT_SLICE, metadata.namespace).delete(metadata.name);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };

    const mirror = async (
      key: string,
      source: Stored<Endpoints>,
      existing: readonly Stored<EndpointSlice>[],
    ): Promise<void> => {
      const { name, namespace = '' } = source.metadata;
      const resource = client.resource(ENDPOINT_SLICE, namespace);
      const wanted = metaOf(source);
      for (const addressType of FAMILIES) {
        const plan = planSlices({
          existing: existing.filter((slice) => slice.addressType === addressType),
          groups: mirroredGroups(source, addressType),
          sliceEndpointsMax: SUBSET_ADDRESSES_MAX,
          keepsOne: false,
          isStale: ({ metadata }) =>
            !isDeepStrictEqual({ ...metadata.labels }, wanted.labels) ||
            !isDeepStrictEqual({ ...metadata.annotations }, wanted.annotations),
        });
        for (const { endpoints: held = [], ports = [] } of plan.create) {
          const ownerReferences = [controllerReference(ENDPOINTS, source)];
          const metadata = { generateName: `${name}-`, namespace, ...wanted, ownerReferences };
          tracker.wrote(key, await resource.create({ metadata, addressType, endpoints: held, ports }));
        }
        for (const slice of plan.update)
          tracker.wrote(key, await resource.update({ ...slice, metadata: { ...slice.metadata, ...wanted } }));
        for (const slice of plan.remove) await remove(key, slice);
      }
    };

    const loop = workLoop(context, {
      name: 'endpoint_slice_mirroring',
      workers: WORKERS,
      retriesMax: RETRIES_MAX,
      async handle(key) {
        const source = endpoints.store.get(key);
        const existing = slices.store.byIndex('mirror', key);
        if (!source || !isMirrored(source, services.store.get(key))) {
          tracker.forget(key);
          for (const slice of existing) await remove(key, slice);
          return;
        }
        if (tracker.isStale(key, existing)) throw new Error('EndpointSlice informer cache is out of date');
        try {
          await mirror(key, source, existing);
        } catch (error) {
          if (!isNamespaceTerminating(error)) throw error;
        }
      },
    });
    const queue = (object: { metadata?: ObjectMeta }): void => loop.queue.add(objectKey(object));
    endpoints.addHandler({ added: queue, updated: (_, one) => queue(one), deleted: queue });
    services.addHandler({
      added: queue,
      updated: (before, after) => {
        if (Boolean(before.spec?.selector) !== Boolean(after.spec?.selector)) queue(after);
      },
      deleted: queue,
    });
    slices.addHandler({
      updated: (_, slice) => {
        if (isOurs(slice)) loop.queue.add(serviceKeyOf(slice));
      },
      deleted: (slice) => {
        if (!isOurs(slice)) return;
        tracker.dropped(serviceKeyOf(slice), slice.metadata.uid);
        loop.queue.add(serviceKeyOf(slice));
      },
    });
    return loop;
  },
};
