import { controllerOf } from '../../../api/meta/index.ts';
import type { LabelSelector, LabelSelectorObject } from '../../../api/selector/index.ts';
import type { ClusterLister } from '../../framework/listers.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { compiledSelector } from '../../model/selectors.ts';

type LabelMap = Readonly<Record<string, string>>;

const selectsPod = (selector: LabelMap, labels: PodInfo['labels']): boolean =>
  Object.entries(selector).every(([key, value]) => labels?.[key] === value);

/**
 * The pods that belong together with this one: those of its services and of its controller. Undefined when
 * it has neither.
 */
export const defaultSelector = (pod: PodInfo, lister: ClusterLister): LabelSelector | undefined => {
  let matchLabels: LabelMap = {};
  let matchExpressions: LabelSelectorObject['matchExpressions'] = [];
  for (const service of lister.services(pod.namespace)) {
    const selector = service.spec?.selector as LabelMap | undefined;
    if (selector && Object.keys(selector).length > 0 && selectsPod(selector, pod.labels))
      matchLabels = { ...matchLabels, ...selector };
  }
  const owner = controllerOf(pod.pod);
  const workload = owner && lister.owner(owner.kind, pod.namespace, owner.name);
  if (workload?.spec?.selector)
    if (owner?.kind === 'ReplicationController')
      matchLabels = { ...matchLabels, ...(workload.spec.selector as LabelMap) };
    else {
      const selector = workload.spec.selector as LabelSelectorObject;
      matchLabels = { ...matchLabels, ...selector.matchLabels };
      matchExpressions = selector.matchExpressions ?? [];
    }
  const selector = compiledSelector({ matchLabels, matchExpressions });
  return selector.isEmpty ? undefined : selector;
};
