import type { Clock } from '../../../base/clock.ts';
import { forbidden, notFound, StatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Namespace } from '../../../api/schema/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, NAMESPACES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { pause } from '../pause.ts';
import { readOrFail, refusal } from '../refusal.ts';

const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);
/** How long the cache is distrusted about a namespace whose deletion was seen here. */
const FORCE_LIVE_MS = 30_000;
const FORCE_LIVE_NAMESPACES_MAX = 100;
/** Lets the watch tell of a namespace that was made a moment ago. */
const MISSING_NAMESPACE_WAIT_MS = 50;

const ACCESS_REVIEWS = { group: 'authorization.k8s.io', resource: 'localsubjectaccessreviews' };

const phaseOf = (namespace: KubernetesObject): string | undefined => (namespace as V1Namespace).status?.phase;

const isNamespace = ({ kind }: AdmissionAttributes): boolean =>
  kind.group === '' && kind.kind === 'Namespace';

const terminating = (attributes: AdmissionAttributes): StatusError => {
  const { namespace } = attributes;
  const { message, details } = refusal(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  return new StatusError('Forbidden', message, {
    code: 403,
    details: {
      ...details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
};

/** Nothing is created in a namespace that is missing or ends; the system's own are never deleted. */
export const namespaceLifecycle = (reader: ObjectReader, clock: Clock): AdmissionPlugin => {
  const distrustedUntilMs = new Map<string, number>();

  const distrust = (name: string): void => {
    distrustedUntilMs.delete(name);
    distrustedUntilMs.set(name, clock.monotonicMs() + FORCE_LIVE_MS);
    const oldest = distrustedUntilMs.keys().next();
    if (distrustedUntilMs.size > FORCE_LIVE_NAMESPACES_MAX && !oldest.done)
      distrustedUntilMs.delete(oldest.value);
  };
  const isDistrusted = (name: string): boolean => {
    const untilMs = distrustedUntilMs.get(name);
    if (untilMs === undefined) return false;
    if (clock.monotonicMs() < untilMs) return true;
    distrustedUntilMs.delete(name);
    return false;
  };

  const find = async (name: string): Promise<KubernetesObject> => {
    let cached = await readOrFail(reader.get(NAMESPACES, '', name));
    if (!cached) {
      await pause(clock, MISSING_NAMESPACE_WAIT_MS);
      cached = await readOrFail(reader.get(NAMESPACES, '', name));
    }
    const isDoubtful = isDistrusted(name) && cached !== undefined && phaseOf(cached) === 'Active';
    if (cached && !isDoubtful) return cached;
    const live = await readOrFail(reader.get(NAMESPACES, '', name, { live: true }));
    if (!live) throw notFound(NAMESPACES, name);
    return live;
  };

  return {
    name: 'NamespaceLifecycle',
    handles: handlesOnly('CREATE', 'UPDATE', 'DELETE'),
    async admit(attributes) {
      const { operation, name, namespace } = attributes;
      if (isNamespace(attributes)) {
        if (operation !== 'DELETE') return;
        if (IMMORTAL.has(name))
          throw forbidden(attributes.resource, name, 'this namespace may not be deleted');
        distrust(name);
        return;
      }
      if (namespace === '' || operation !== 'CREATE') return;
      // An answer about the namespace would tell what the asker may not know.
      if (isResource(attributes, ACCESS_REVIEWS)) return;
      if (phaseOf(await find(namespace)) === 'Terminating') throw terminating(attributes);
    },
  };
};
