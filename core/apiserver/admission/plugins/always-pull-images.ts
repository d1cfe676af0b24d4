import type { V1Pod } from '../../../api/schema/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import { aggregateMessage, refusal } from '../refusal.ts';

const ALWAYS = 'Always';

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

const containersOf = ({ spec }: V1Pod) =>
  LISTS.flatMap((list) =>
    (spec?.[list] ?? []).map((container, at) => ({ container, path: `spec.${list}[${at}]` })),
  );

const bringsNoImage = ({ operation, object, oldObject }: AdmissionAttributes): boolean => {
  if (operation !== 'UPDATE' || !oldObject) return false;
  const known = new Set(containersOf(oldObject as V1Pod).map(({ container }) => container.image));
  return containersOf(object as V1Pod).every(({ container }) => known.has(container.image));
};

const ignores = (attributes: AdmissionAttributes): boolean =>
  attributes.subresource !== '' || !isResource(attributes, PODS) || bringsNoImage(attributes);

/** Who may not pull a private image must not find it on a node, either. */
export const alwaysPullImages = (): AdmissionPlugin => ({
  name: 'AlwaysPullImages',
  handles: handlesOnly('CREATE', 'UPDATE'),
  admit(attributes) {
    if (ignores(attributes)) return;
    const pod = attributes.object as V1Pod;
    for (const { container } of containersOf(pod)) container.imagePullPolicy = ALWAYS;
    for (const { image } of pod.spec?.volumes ?? []) if (image) image.pullPolicy = ALWAYS;
  },
  validate(attributes) {
    if (ignores(attributes)) return;
    const pod = attributes.object as V1Pod;
    const policies = [
      ...containersOf(pod).map(({ container, path }) => ({
        field: `${path}.imagePullPolicy`,
        policy: container.imagePullPolicy,
      })),
      ...(pod.spec?.volumes ?? []).flatMap(({ image }, at) =>
        image ? [{ field: `spec.volumes[${at}].image.pullPolicy`, policy: image.pullPolicy }] : [],
      ),
    ];
    const wrong = policies
      .filter(({ policy }) => policy !== ALWAYS)
      .map(
        ({ field, policy = '' }) =>
          `${field}: Unsupported value: ${goQuote(policy)}: supported values: "${ALWAYS}"`,
      );
    if (wrong.length > 0) throw refusal(attributes, aggregateMessage(wrong));
  },
});
