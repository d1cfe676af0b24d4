import { forbidden, internalError, type KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { readNamespace } from '../match/selectors.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

/** `podNodeSelectorPluginConfig`: selectors that pods of a namespace may have, and the default of the cluster. */
export type PodNodeSelectorConfiguration = Readonly<Record<string, string>>;

type Labels = Readonly<Record<string, string>>;

/** `a=b,c=d`, and nothing that selectors know besides. */
const labelsOf = (selector: string): Labels => {
  if (selector === '') return {};
  return Object.fromEntries(
    selector.split(',').map((part) => {
      const [key = '', value, ...rest] = part.split('=').map((text) => text.trim());
      if (value === undefined || rest.length > 0) throw internalError(`invalid selector: [${part}]`);
      return [key, value];
    }),
  );
};

const conflicts = (a: Labels, b: Labels): boolean =>
  Object.entries(a).some(([key, value]) => b[key] !== undefined && b[key] !== value);

const isWithin = (labels: Labels, allowed: Labels): boolean =>
  Object.keys(allowed).length === 0 || Object.entries(labels).every(([key, value]) => allowed[key] === value);

/** Pods of a namespace run on the nodes that its annotation, or the cluster, says. */
export const podNodeSelector = (
  reader: ObjectReader,
  configuration: PodNodeSelectorConfiguration = {},
): AdmissionPlugin => {
  const ofNamespace = async (name: string): Promise<Labels> => {
    const namespace: KubernetesObject | undefined = await readNamespace(reader, name);
    if (!namespace) throw internalError(`namespace ${name} does not exist`);
    return labelsOf(namespace.metadata?.annotations?.[ANNOTATION] ?? configuration[CLUSTER_DEFAULT] ?? '');
  };
  const refused = ({ resource, object }: AdmissionAttributes, why: string): Error =>
    forbidden(resource, object?.metadata?.name ?? '', why);
  const check = async (attributes: AdmissionAttributes): Promise<Labels | undefined> => {
    if (attributes.subresource !== '' || !isResource(attributes, PODS)) return undefined;
    const wanted = (attributes.object as V1Pod).spec?.nodeSelector ?? {};
    const given = await ofNamespace(attributes.namespace);
    if (conflicts(given, wanted))
      throw refused(attributes, 'pod node label selector conflicts with its namespace node label selector');
    const merged = { ...given, ...wanted };
    if (!isWithin(merged, labelsOf(configuration[attributes.namespace] ?? '')))
      throw refused(attributes, 'pod node label selector labels conflict with its namespace whitelist');
    return merged;
  };
  return {
    name: 'PodNodeSelector',
    handles: handlesOnly('CREATE'),
    async admit(attributes) {
      const merged = await check(attributes);
      const spec = (attributes.object as V1Pod | undefined)?.spec;
      if (merged && spec && Object.keys(merged).length > 0) spec.nodeSelector = merged;
    },
    async validate(attributes) {
      await check(attributes);
    },
  };
};
