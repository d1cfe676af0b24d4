export { createKubeletHost, KubeletHost } from './kubelet-host.ts';
export type { HostedNode, KubeletHostOptions, NodeApi } from './kubelet-host.ts';
export type { NodeIdentity } from './node/node-object.ts';
export { KubeletNode } from './node/kubelet-node.ts';
export * from './runtimes/runtime.ts';
export { ComponentRuntime } from './runtimes/component/component-runtime.ts';
export type {
  ComponentHandle,
  ComponentRequest,
  StartComponent,
} from './runtimes/component/component-runtime.ts';
export { localContent, type OpenContent } from './runtimes/simulated/content/content-channel.ts';
export { ContentClient } from './runtimes/simulated/content/content-client.ts';
export { CONTENT_RESOURCE_LIMITS, threadContent } from './runtimes/simulated/content/thread-channel.ts';
export type { ContentThreadData } from './runtimes/simulated/content/thread-channel.ts';
export { PolicyAgent } from './policy/policy-agent.ts';
export { rangeAddresses } from './runtimes/simulated/pod-addresses.ts';
export type { PodAddresses } from './runtimes/simulated/pod-addresses.ts';
export { SimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts';
export { KubeletServer } from './server/kubelet-server.ts';
export type { KubeletServerOptions } from './server/kubelet-server.ts';
export { allowList, apiAuth } from './server/auth.ts';
export type { KubeletAuth, RequestAttributes, User } from './server/auth.ts';
