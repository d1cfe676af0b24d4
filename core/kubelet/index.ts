export { createKubeletHost, KubeletHost } from './kubelet-host.ts';
export type { HostedNode, KubeletHostOptions } from './kubelet-host.ts';
export type { NodeIdentity } from './node/node-object.ts';
export { KubeletNode } from './node/kubelet-node.ts';
export * from './runtimes/runtime.ts';
export { ComponentRuntime } from './runtimes/component/component-runtime.ts';
export type {
  ComponentHandle,
  ComponentRequest,
  StartComponent,
} from './runtimes/component/component-runtime.ts';
export { ListenerPool } from './runtimes/simulated/pod-listeners.ts';
export { rangeAddresses } from './runtimes/simulated/pod-addresses.ts';
export type { PodAddresses } from './runtimes/simulated/pod-addresses.ts';
export { SimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts';
export { KubeletServer } from './server/kubelet-server.ts';
export type { KubeletServerOptions } from './server/kubelet-server.ts';
export { allowList, apiAuth } from './server/auth.ts';
export type { KubeletAuth, RequestAttributes, User } from './server/auth.ts';
