import { objectKey } from '../../api/meta/index.ts';
import { selectorFromSet } from '../../api/selector/index.ts';
import type { Handler, Informer, Pod, Service, Stored } from '../../client/index.ts';
import { endpointChanged } from './service-pods.ts';

/** Services that select the pod. One without a selector has endpoints that somebody else writes. */
export const servicesOf = (services: Informer<Service>, pod: Stored<Pod>): string[] =>
  services.store
    .inNamespace(pod.metadata.namespace ?? '')
    .filter(
      ({ spec }) =>
        Object.keys(spec?.selector ?? {}).length > 0 &&
        selectorFromSet(spec?.selector).matches(pod.metadata.labels),
    )
    .map(objectKey);

/** Events of pods as keys of the services in front of them, before and after. */
export const podEvents = (services: Informer<Service>, add: (key: string) => void): Handler<Pod> => {
  const tell = (pod: Stored<Pod>): void => servicesOf(services, pod).forEach(add);
  return {
    added: tell,
    deleted: tell,
    updated(before, after) {
      if (before !== after && !endpointChanged(before, after)) return;
      tell(after);
      if (JSON.stringify(before.metadata.labels) !== JSON.stringify(after.metadata.labels)) tell(before);
    },
  };
};
