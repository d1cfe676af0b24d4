import type { AdmissionAttributes, ServedAs } from '../attributes.ts';

/** Who asks, as reviews and expressions spell it. */
const userOf = ({ user }: AdmissionAttributes): Record<string, unknown> => ({
  ...(user.name !== '' && { username: user.name }),
  ...(user.uid !== '' && { uid: user.uid }),
  ...(user.groups.length > 0 && { groups: user.groups }),
  ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
});

/** AdmissionRequest without its uid and objects: `request` of expressions, and most of an AdmissionReview. */
export const admissionRequestOf = (
  attributes: AdmissionAttributes,
  matched: ServedAs,
): Record<string, unknown> => {
  const { subresource, name, namespace } = attributes;
  const { group, version, kind } = attributes.kind;
  const plain = ({ resource }: ServedAs): Record<string, string> => ({
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
  });
  return {
    kind: { group: matched.kind.group, version: matched.kind.version, kind: matched.kind.kind },
    resource: plain(matched),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: { group, version, kind },
    requestResource: plain({ resource: attributes.resource, kind: attributes.kind }),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation: attributes.operation,
    userInfo: userOf(attributes),
    dryRun: attributes.isDryRun,
    options: attributes.options ?? null,
  };
};
