import { isAlreadyExists, isNotFound } from '../../api/meta/status.ts';
import type { LabelSelector } from '../../api/meta/object-meta.ts';
import { selectorFromObject } from '../../api/selector/index.ts';
import type { V1PodTemplateSpec } from '../../api/schema/index.ts';
import {
  canonicalJson,
  claimObjects,
  CONTROLLER_REVISION,
  controllerReference,
  templateHash,
  type Client,
  type ControllerRevision,
  type Kind,
  type Store,
  type Stored,
} from '../../client/index.ts';
import { normalizedTemplate } from './pod-template.ts';

type Revision = Stored<ControllerRevision>;

export interface RevisionOwner {
  readonly client: Client;
  readonly kind: Kind;
  readonly owner: Stored;
  readonly selector: LabelSelector | undefined;
  readonly template: V1PodTemplateSpec;
  /** The label of a revision that says its hash. */
  readonly hashLabel: string;
}

const NAME_PREFIX_LENGTH_MAX = 223;
/** Each collision is one in four thousand million: more than a few is a defect of the hash. */
const COLLISIONS_MAX = 16;

/** A patch that puts the template back, as `kubectl rollout undo` applies it. */
const dataOf = (template: V1PodTemplateSpec): unknown => ({
  spec: { template: { ...template, $patch: 'replace' } },
});

/** The template that a revision remembers. */
export const templateOf = ({ data }: ControllerRevision): V1PodTemplateSpec => {
  const { spec } = (data ?? {}) as { spec?: { template?: V1PodTemplateSpec & { $patch?: string } } };
  const { $patch: _, ...template } = spec?.template ?? {};
  return template;
};

const textOf = (template: V1PodTemplateSpec): string => canonicalJson(normalizedTemplate(template));

const byRevision = (a: Revision, b: Revision): number => {
  if (a.revision !== b.revision) return a.revision - b.revision;
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};

/** The revisions of an owner, adopted where they were orphans, the oldest first. */
export const claimRevisions = async (
  { client, kind, owner, selector }: RevisionOwner,
  store: Store<ControllerRevision>,
): Promise<Revision[]> => {
  const claimed = await claimObjects({
    client,
    owner,
    ownerKind: kind,
    kind: CONTROLLER_REVISION,
    selector: selectorFromObject(selector),
    objects: store.inNamespace(owner.metadata.namespace ?? ''),
  });
  return claimed.sort(byRevision);
};

const create = async (
  revisionOwner: RevisionOwner,
  revision: number,
  collisionCount: number,
): Promise<{ readonly latest: Revision; readonly collisionCount: number }> => {
  const { client, kind, owner, template, hashLabel } = revisionOwner;
  const resource = client.resource(CONTROLLER_REVISION, owner.metadata.namespace);
  for (let count = collisionCount; ; count += 1) {
    const hash = templateHash(normalizedTemplate(template), count);
    const name = `${owner.metadata.name.slice(0, NAME_PREFIX_LENGTH_MAX)}-${hash}`;
    try {
      const latest = await resource.create({
        metadata: {
          name,
          labels: { ...template.metadata?.labels, [hashLabel]: hash },
          annotations: { ...owner.metadata.annotations },
          ownerReferences: [controllerReference(kind, owner)],
        },
        data: dataOf(template),
        revision,
      });
      return { latest, collisionCount: count };
    } catch (error) {
      if (!isAlreadyExists(error) || count - collisionCount >= COLLISIONS_MAX) throw error;
      const existing = await resource.get(name);
      if (textOf(templateOf(existing)) === textOf(template))
        return { latest: existing, collisionCount: count };
    }
  }
};

/**
 * The revision of the present template: the newest if it is that, an older one under a new number when the template
 * went back, or a new one. Its name follows from the template.
 */
export const ensureRevision = async (
  revisionOwner: RevisionOwner,
  revisions: readonly Revision[],
  collisionCount: number,
): Promise<{ readonly latest: Revision; readonly collisionCount: number }> => {
  const wanted = textOf(revisionOwner.template);
  const newest = revisions.at(-1);
  const equal = revisions.filter((revision) => textOf(templateOf(revision)) === wanted).at(-1);
  const number = (newest?.revision ?? 0) + 1;
  if (!equal) return create(revisionOwner, number, collisionCount);
  if (equal === newest) return { latest: equal, collisionCount };
  const { client, owner } = revisionOwner;
  const latest = await client
    .resource(CONTROLLER_REVISION, owner.metadata.namespace)
    .update({ ...equal, revision: number });
  return { latest, collisionCount };
};

/** Deletes the oldest revisions beyond the limit that nothing uses. */
export const truncateRevisions = async (
  client: Client,
  revisions: readonly Revision[],
  options: { readonly limit: number; isLive(revision: Revision): boolean },
): Promise<void> => {
  const unused = revisions.filter((revision) => !options.isLive(revision));
  for (const { metadata } of unused.slice(0, Math.max(0, unused.length - options.limit)))
    try {
      await client
        .resource(CONTROLLER_REVISION, metadata.namespace)
        .delete(metadata.name, { preconditions: { uid: metadata.uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
};
