import * as v from 'valibot';
import { said } from '../sentences/said.ts';

const text = v.pipe(v.string(), v.maxLength(4096));

/** The keys of every member at one revision, as one number each. */
export const etcdHashes = v.object({
  revision: v.number(),
  verdict: v.picklist(['equal', 'different', 'unverified']),
  members: v.array(
    v.object({
      id: text,
      name: text,
      hash: v.optional(v.number()),
      compactRevision: v.optional(v.number()),
      problem: v.optional(said),
    }),
  ),
});
export type EtcdHashes = v.InferOutput<typeof etcdHashes>;

/** Locks and elections made with etcd's recipes: the first claim holds, the others wait. */
export const etcdLocks = v.array(
  v.object({
    name: text,
    kind: v.picklist(['lock', 'election']),
    claims: v.array(
      v.object({
        key: text,
        lease: text,
        ttlSeconds: v.number(),
        createRevision: v.number(),
        value: text,
      }),
    ),
  }),
);
export type EtcdLocks = v.InferOutput<typeof etcdLocks>;

/** Users and roles of etcd's own auth. */
export const etcdAuth = v.object({
  isEnabled: v.boolean(),
  revision: v.number(),
  users: v.array(v.object({ name: text, roles: v.array(text) })),
  roles: v.array(
    v.object({
      name: text,
      permissions: v.array(
        v.object({ type: v.picklist(['read', 'write', 'readwrite']), key: text, rangeEnd: text }),
      ),
    }),
  ),
});
export type EtcdAuth = v.InferOutput<typeof etcdAuth>;
