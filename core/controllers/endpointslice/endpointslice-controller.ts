import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { isNotFound, objectKey } from '../../api/meta/index.ts';
import { selectorFromSet } from '../../api/selector/index.ts';
import { ENDPOINT_SLICE, NODE, POD, SERVICE } from '../../client/index.ts';
import type { EndpointSlice, Service, Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { isNamespaceTerminating } from '../serviceaccount/serviceaccount-controller.ts';
import { desiredEndpoints, ZONE_LABEL } from './endpoints-of.ts';
import { planSlices, type SlicePlan } from './plan-slices.ts';
import { podEvents } from './service-keys.ts';
import { familiesOf, type IpFamily } from './service-pods.ts';
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  newSliceMeta,
  SERVICE_NAME_LABEL,
  sliceLabels,
  withTriggerTime,
} from './slice-meta.ts';
import { SliceTracker } from './slice-tracker.ts';
import { TriggerTimes } from './trigger-times.ts';

const RETRIES_MAX = 15;

const serviceKeyOf = ({ metadata }: Stored<EndpointSlice>): string =>
  `${metadata.namespace ?? ''}/${metadata.labels?.[SERVICE_NAME_LABEL] ?? ''}`;
const isOurs = ({ metadata }: Stored<EndpointSlice>): boolean =>
  metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY;

/** Keeps the slices of every service that has a selector as its pods are. */
export const endpointSliceController: ControllerDefinition<ControllerSettings> = {
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  serviceAccount: 'endpointslice-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events } = context;
    const services = informers.informer(SERVICE);
    const pods = informers.informer(POD);
    const nodes = informers.informer(NODE);
    const slices = informers.informer(ENDPOINT_SLICE, {
      indexers: { service: (slice) => (isOurs(slice) ? [serviceKeyOf(slice)] : []) },
    });
    const tracker = new SliceTracker();
    const triggers = new TriggerTimes();

    const write = async (
      service: Stored<Service>,
      family: IpFamily,
      plan: SlicePlan,
      triggerTime: string | undefined,
    ): Promise<void> => {
      const key = objectKey(service);
      const resource = client.resource(ENDPOINT_SLICE, service.metadata.namespace);
      for (const { endpoints = [], ports = [] } of plan.create) {
        const metadata = newSliceMeta(service, triggerTime);
        try {
          tracker.wrote(key, await resource.create({ metadata, addressType: family, endpoints, ports }));
        } catch (error) {
          if (isNamespaceTerminating(error)) return;
          throw error;
        }
      }
      for (const slice of plan.update) {
        const annotations = withTriggerTime(slice.metadata.annotations, triggerTime);
        const metadata = { ...slice.metadata, labels: sliceLabels(service), annotations };
        tracker.wrote(key, await resource.update({ ...slice, metadata }));
      }
      for (const { metadata } of plan.remove) {
        tracker.dropped(key, metadata.uid);
        await resource.delete(metadata.name).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    };

    const reconcile = async (
      key: string,
      service: Stored<Service>,
      existing: readonly Stored<EndpointSlice>[],
    ): Promise<void> => {
      const selector = selectorFromSet(service.spec?.selector);
      const selected = pods.store
        .inNamespace(service.metadata.namespace ?? '')
        .filter(({ metadata }) => selector.matches(metadata.labels));
      const triggerTime = triggers.next(key, service, selected);
      const families = familiesOf(service);
      const labels = sliceLabels(service);
      const skipped: string[] = [];
      for (const family of families) {
        const desired = desiredEndpoints({
          service,
          pods: selected,
          family,
          nodeOf: (name) => nodes.store.get(name),
        });
        skipped.push(...desired.skipped);
        const plan = planSlices({
          existing: existing.filter(({ addressType }) => addressType === family),
          groups: desired.groups,
          sliceEndpointsMax: settings['max-endpoints-per-slice'],
          keepsOne: true,
          isStale: ({ metadata }) => !isDeepStrictEqual({ ...metadata.labels }, labels),
        });
        await write(service, family, plan, triggerTime);
      }
      const remove = existing.filter(({ addressType }) => !families.includes(addressType as IpFamily));
      await write(service, families[0]!, { create: [], update: [], remove }, undefined);
      if (skipped.length > 0) throw new Error(skipped.join('; '));
    };

    const sync = async (key: string): Promise<void> => {
      const service = services.store.get(key);
      if (!service) {
        triggers.forget(key);
        tracker.forget(key);
        return; // The garbage collector deletes its slices: they name it as their owner.
      }
      if (service.spec?.type === 'ExternalName' || !service.spec?.selector) return;
      const existing = slices.store
        .byIndex('service', key)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (tracker.isStale(key, existing)) throw new Error('EndpointSlice informer cache is out of date');
      try {
        await reconcile(key, service, existing);
      } catch (error) {
        events.event(
          service,
          'Warning',
          'FailedToUpdateEndpointSlices',
          `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`,
        );
        throw error;
      }
    };

    const loop = workLoop(context, {
      name: 'endpoint_slice',
      workers: settings['concurrent-service-endpoint-syncs'],
      retriesMax: RETRIES_MAX,
      handle: sync,
    });
    const queueAll = (): void => services.store.keys().forEach((key) => loop.queue.add(key));
    services.addHandler({
      added: (service) => loop.queue.add(objectKey(service)),
      updated: (_, service) => loop.queue.add(objectKey(service)),
      deleted: (service) => loop.queue.add(objectKey(service)),
    });
    pods.addHandler(podEvents(services, (key) => loop.queue.add(key)));
    nodes.addHandler({
      added: (_, { isInInitialList }) => {
        if (!isInInitialList) queueAll();
      },
      updated: (before, after) => {
        if (before.metadata.labels?.[ZONE_LABEL] !== after.metadata.labels?.[ZONE_LABEL]) queueAll();
      },
    });
    slices.addHandler({
      added: (slice) => {
        if (isOurs(slice)) loop.queue.add(serviceKeyOf(slice));
      },
      updated: (before, after) => {
        if (isOurs(before) || isOurs(after)) loop.queue.add(serviceKeyOf(after));
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
