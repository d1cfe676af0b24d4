import { parseApiVersion, type KubernetesObject, type OwnerReference } from '../../../api/meta/index.ts';
import { jsonEquals, type Json } from '../../../api/patch/json.ts';
import { resourceAttributes, type Authorizer, type Verdict } from '../../authz/authorizer.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import type { FindResource } from '../kind-finder.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import { refusal } from '../refusal.ts';

const ownersOf = (object: KubernetesObject | undefined): readonly OwnerReference[] =>
  object?.metadata?.ownerReferences ?? [];

const isSame = (a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean =>
  jsonEquals(a as unknown as Json, b as unknown as Json);

/** Owners whose deletion the object begins to hold up. */
const newlyBlocking = ({ object, oldObject }: AdmissionAttributes): readonly OwnerReference[] => {
  const before = new Map(ownersOf(oldObject).map((owner) => [owner.uid, owner]));
  return ownersOf(object).filter(
    ({ uid, blockOwnerDeletion }) =>
      blockOwnerDeletion === true && before.get(uid)?.blockOwnerDeletion !== true,
  );
};

/** As upstream prints a denial with its reason and the error, of which there is none here. */
const because = (what: string, { reason }: Verdict): string => `${what}: ${reason}, <nil>`;

/** An owner reference lets an object be deleted with its owner, and can hold up the owner's deletion: both need a right. */
export const ownerReferencesPermissionEnforcement = (
  authorizer: Authorizer,
  find: FindResource,
): AdmissionPlugin => ({
  name: 'OwnerReferencesPermissionEnforcement',
  handles: handlesOnly('CREATE', 'UPDATE'),
  async validate(attributes) {
    const { object, oldObject, operation, resource, subresource, namespace, name, user } = attributes;
    if (isResource(attributes, PODS) && subresource === 'status') return;
    if (isSame(ownersOf(object), ownersOf(oldObject))) return;
    if (operation !== 'CREATE') {
      const verdict = await authorizer.authorize(
        resourceAttributes(user, {
          verb: 'delete',
          namespace,
          apiGroup: resource.group,
          apiVersion: resource.version,
          resource: resource.resource,
          subresource,
          name,
        }),
      );
      if (verdict.decision !== 'allow')
        throw refusal(attributes, because("cannot set an ownerRef on a resource you can't delete", verdict));
    }
    const blocking = newlyBlocking(attributes);
    if (blocking.length === 0) return;
    const finalizes = { verb: 'update', subresource: 'finalizers' } as const;
    const everything = { ...finalizes, apiGroup: '*', apiVersion: '*', resource: '*', name: '*' };
    if ((await authorizer.authorize(resourceAttributes(user, everything))).decision === 'allow') return;
    for (const owner of blocking) {
      const version = parseApiVersion(owner.apiVersion);
      const found = version && (await find({ ...version, kind: owner.kind }));
      if (!found)
        throw refusal(
          attributes,
          `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${owner.apiVersion} Kind ${owner.kind}: no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`,
        );
      const verdict = await authorizer.authorize(
        resourceAttributes(user, {
          ...finalizes,
          apiGroup: found.group,
          apiVersion: found.version,
          resource: found.resource,
          name: owner.name,
          ...(found.namespaced && { namespace }),
        }),
      );
      if (verdict.decision !== 'allow')
        throw refusal(
          attributes,
          because(
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
            verdict,
          ),
        );
    }
  },
});
