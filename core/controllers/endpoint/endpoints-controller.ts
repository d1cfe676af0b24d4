import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists, isConflict, isNotFound, objectKey, splitObjectKey } from '../../api/meta/index.ts';
import { selectorFromSet } from '../../api/selector/index.ts';
import { ENDPOINTS, POD, SERVICE, type Endpoints, type Service, type Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import { podEvents } from '../endpointslice/service-keys.ts';
import { isHeadless } from '../endpointslice/service-pods.ts';
import { TRIGGER_TIME_ANNOTATION, TriggerTimes } from '../endpointslice/trigger-times.ts';
import { HEADLESS_LABEL } from '../endpointslice/slice-meta.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { isNamespaceTerminating } from '../serviceaccount/serviceaccount-controller.ts';
import { subsetsOf } from './subsets.ts';

const OVER_CAPACITY_ANNOTATION = 'endpoints.kubernetes.io/over-capacity';
const MANAGED_BY_LABEL = 'endpoints.kubernetes.io/managed-by';
const MANAGED_BY = 'endpoint-controller';
const RETRIES_MAX = 15;

const labelsOf = (service: Stored<Service>): Record<string, string> => {
  const { [HEADLESS_LABEL]: _, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(isHeadless(service) && { [HEADLESS_LABEL]: '' }), [MANAGED_BY_LABEL]: MANAGED_BY };
};

/** Keeps the Endpoints of every service that has a selector: what came before slices, and is still read. */
export const endpointsController: ControllerDefinition<ControllerSettings> = {
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  serviceAccount: 'endpoint-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events } = context;
    const services = informers.informer(SERVICE);
    const pods = informers.informer(POD);
    const endpoints = informers.informer(ENDPOINTS);
    const triggers = new TriggerTimes();

    const write = async (service: Stored<Service>, next: Endpoints, isNew: boolean): Promise<void> => {
      const resource = client.resource(ENDPOINTS, service.metadata.namespace);
      try {
        if (isNew) await resource.create(next);
        else await resource.update(next);
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        const isRace = isConflict(error) || isAlreadyExists(error);
        if (!isRace)
          events.event(
            service,
            'Warning',
            isNew ? 'FailedToCreateEndpoint' : 'FailedToUpdateEndpoint',
            isNew
              ? `Failed to create endpoint for service ${objectKey(service)}: ${messageOf(error)}`
              : `Failed to update endpoint ${objectKey(service)}: ${messageOf(error)}`,
          );
        throw error;
      }
    };

    const remove = async (key: string): Promise<void> => {
      triggers.forget(key);
      const { namespace, name } = splitObjectKey(key);
      if (!endpoints.store.get(key)) return;
      try {
        await client.resource(ENDPOINTS, namespace).delete(name);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };

    const sync = async (key: string): Promise<void> => {
      const service = services.store.get(key);
      if (!service) return remove(key);
      if (!service.spec?.selector) return;
      const selector = selectorFromSet(service.spec.selector);
      const selected = pods.store
        .inNamespace(service.metadata.namespace ?? '')
        .filter(({ metadata }) => selector.matches(metadata.labels));
      const triggerTime = triggers.next(key, service, selected);
      const { subsets, isTruncated } = subsetsOf(service, selected);
      const held = endpoints.store.get(key);
      const labels = labelsOf(service);
      const wasTruncated = held?.metadata.annotations?.[OVER_CAPACITY_ANNOTATION] !== undefined;
      const isSame =
        held !== undefined &&
        isTruncated === wasTruncated &&
        isDeepStrictEqual({ ...held.metadata.labels }, labels) &&
        isDeepStrictEqual(held.subsets ?? [], subsets);
      if (isSame) return;
      const {
        [TRIGGER_TIME_ANNOTATION]: _,
        [OVER_CAPACITY_ANNOTATION]: __,
        ...others
      } = held?.metadata.annotations ?? {};
      const annotations = {
        ...others,
        ...(triggerTime !== undefined && { [TRIGGER_TIME_ANNOTATION]: triggerTime }),
        ...(isTruncated && { [OVER_CAPACITY_ANNOTATION]: 'truncated' }),
      };
      const { name, namespace = '' } = service.metadata;
      const metadata = { ...(held?.metadata ?? { name, namespace }), labels, annotations };
      await write(service, { ...held, metadata, subsets }, held === undefined);
    };

    const loop = workLoop(context, {
      name: 'endpoint',
      workers: settings['concurrent-endpoint-syncs'],
      retriesMax: RETRIES_MAX,
      handle: sync,
    });
    services.addHandler({
      added: (service) => loop.queue.add(objectKey(service)),
      updated: (_, service) => loop.queue.add(objectKey(service)),
      deleted: (service) => loop.queue.add(objectKey(service)),
    });
    pods.addHandler(podEvents(services, (key) => loop.queue.add(key)));
    endpoints.addHandler({
      // What a service left behind while no one looked. Others' endpoints (leader locks, the server's own) are theirs.
      added: (object, { isInInitialList }) => {
        if (isInInitialList && object.metadata.labels?.[MANAGED_BY_LABEL] === MANAGED_BY)
          loop.queue.add(objectKey(object));
      },
      deleted: (object) => {
        if (services.store.get(objectKey(object))) loop.queue.add(objectKey(object));
      },
    });
    return loop;
  },
};
