import type { GroupResource, KubernetesObject } from '../../../api/meta/index.ts';
import type { Follower, InternalInformer } from '../../informer/internal-informer.ts';

/** An informer that a test tells what there is. */
export interface FakeInformer extends InternalInformer {
  upsert(resource: string, object: KubernetesObject): void;
  remove(resource: string, object: KubernetesObject): void;
}

export const fakeInformer = (): FakeInformer => {
  const followers = new Map<string, Set<Follower>>();
  const of = (resource: string): Set<Follower> => {
    let known = followers.get(resource);
    if (!known) followers.set(resource, (known = new Set()));
    return known;
  };
  return {
    follow({ resource }: GroupResource, follower) {
      of(resource).add(follower);
      return { ready: Promise.resolve(), dispose: () => void of(resource).delete(follower) };
    },
    upsert: (resource, object) => of(resource).forEach((one) => one.upsert(object)),
    remove: (resource, object) => of(resource).forEach((one) => one.remove(object)),
    dispose: () => followers.clear(),
  };
};
