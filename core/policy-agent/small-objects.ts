import type { EndpointSlice, Namespace, Node, Pod, Service } from '../client/index.ts';

/** Labels, addresses and ports are all that policies look at. */
export const smallPod = <T extends Pod>(pod: T): T => {
  delete pod.metadata?.managedFields;
  delete pod.metadata?.annotations;
  if (pod.spec)
    pod.spec.containers = pod.spec.containers.map(({ name, ports }) => ({ name, ...(ports && { ports }) }));
  return pod;
};

export const small = <T extends Service | EndpointSlice | Namespace>(object: T): T => {
  delete object.metadata?.managedFields;
  delete object.metadata?.annotations;
  return object;
};

/** Its heartbeats change what is left out. */
export const smallNode = <T extends Node>(node: T): T => {
  delete node.metadata?.managedFields;
  delete node.metadata?.annotations;
  if (node.status) node.status = { addresses: node.status.addresses ?? [] };
  return node;
};
