import { jsonText } from '../../../api/meta/json-text.ts';
import { badRequest, invalid, type KubernetesObject } from '../../../api/meta/index.ts';
import {
  formatLabelSelector,
  selectorFromSet,
  type LabelSelectorObject,
} from '../../../api/selector/index.ts';
import { int, obj, strMap } from '../../../api/validation/read.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import type { Held, RestStorage } from '../rest-storage.ts';

const selectorText = (parent: KubernetesObject): string => {
  const spec = obj(parent, 'spec');
  if (parent.kind === 'ReplicationController') return selectorFromSet(strMap(spec, 'selector')).toString();
  const text = formatLabelSelector(spec['selector'] as LabelSelectorObject | undefined);
  return text === '<none>' ? '' : text;
};

/** Where a kind has what its Scale shows. */
export interface ScaleView {
  read(parent: KubernetesObject): {
    /** Undefined where no one has said how many. */
    readonly replicas: number | undefined;
    readonly statusReplicas: number;
    readonly selector: string;
  };
  write(parent: KubernetesObject, replicas: number): KubernetesObject;
  /** What is answered where there are no replicas to read; absent: they count as none. */
  missing?(): Error;
  /** Whether the kind's own validation judges the replicas. */
  readonly isValidatedByParent?: boolean;
}

/** Built-in kinds. */
const SPEC_VIEW: ScaleView = {
  read: (parent) => ({
    replicas: int(obj(parent, 'spec'), 'replicas'),
    statusReplicas: int(obj(parent, 'status'), 'replicas'),
    selector: selectorText(parent),
  }),
  write: (parent, replicas) => ({ ...parent, spec: { ...obj(parent, 'spec'), replicas } }),
};

const scaleOf = (parent: KubernetesObject, view: ScaleView): KubernetesObject => {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata ?? {};
  const { replicas = 0, statusReplicas, selector } = view.read(parent);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    },
    spec: { replicas },
    status: {
      replicas: statusReplicas,
      ...(selector !== '' && { selector }),
    },
  };
};

const heldScale = ({ key, revision }: Held, object: KubernetesObject, view: ScaleView): Held => {
  const scale = scaleOf(object, view);
  return new CachedObject(key, Buffer.from(jsonText(scale)), revision, scale);
};

const replicasOf = (scale: KubernetesObject, name: string, view: ScaleView): number => {
  const replicas = int(obj(scale, 'spec'), 'replicas');
  if (replicas >= 0 || view.isValidatedByParent === true) return replicas;
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.replicas',
      message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
    },
  ]);
};

/** `/scale`: how many replicas, whatever the kind. */
export const scaleOfParent = (parent: GenericStore, view: ScaleView = SPEC_VIEW): RestStorage => ({
  async get(scope, name, options) {
    const held = await parent.get(scope, name, options);
    const { stored } = parent.core.definition;
    const object = stored ? await stored.load(held.object) : held.object;
    if (view.missing && view.read(object).replicas === undefined) throw view.missing();
    return heldScale(held, object, view);
  },
  async update(scope, name, options) {
    let before: KubernetesObject | undefined;
    let wanted: KubernetesObject | undefined;
    const { held } = await parent.update(scope, name, {
      dryRun: options.dryRun,
      createIfMissing: false,
      async change(current) {
        before = scaleOf(current!, view);
        wanted = await options.change(before);
        const { metadata = {} } = wanted;
        if (metadata.name !== undefined && metadata.name !== name)
          throw badRequest(
            `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
          );
        const replicas = replicasOf(wanted, name, view);
        const written = view.write(current!, replicas);
        const next: KubernetesObject = {
          ...written,
          metadata: {
            ...current!.metadata,
            // The client's words on which version it saw, if it says any.
            ...(metadata.resourceVersion && { resourceVersion: metadata.resourceVersion }),
            ...(metadata.uid && { uid: metadata.uid }),
          },
        };
        return options.track?.(current!, next) ?? next;
      },
      validateCreate: async () => {},
      validateUpdate: async () => options.validateUpdate(wanted!, before),
    });
    return { held: heldScale(held, held.object, view), created: false };
  },
});
