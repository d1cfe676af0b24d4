import * as v from 'valibot';

const NODES_MAX = 10_000;
const ADDRESSES_MAX = 64;

/** What a machine that joins would find, and who has joined. */
export const joiningView = v.object({
  /** Where machines are told to join; null: the cluster does not say it. */
  endpoint: v.nullable(v.string()),
  /** Only this machine reaches the endpoint. */
  isLoopback: v.boolean(),
  /** Of this machine, from which an endpoint for others could be chosen. */
  addresses: v.pipe(v.array(v.string()), v.maxLength(ADDRESSES_MAX)),
  nodes: v.pipe(
    v.array(v.object({ name: v.string(), isReady: v.boolean(), hasReported: v.boolean() })),
    v.maxLength(NODES_MAX),
  ),
});
export type JoiningView = v.InferOutput<typeof joiningView>;

/** A new bootstrap token in the words that another machine is given. */
export const nodeInvitation = v.object({
  command: v.string(),
  kubeadmCommand: v.string(),
  tokenId: v.string(),
  expiresAtMs: v.number(),
});
export type NodeInvitation = v.InferOutput<typeof nodeInvitation>;
