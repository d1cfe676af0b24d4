export * from './client.ts';
export * from './kind.ts';
export * from './kinds.ts';
export * from './controller/index.ts';
export { ApiEventRecorder } from './events/api-event-recorder.ts';
export type { ApiEventRecorderOptions } from './events/api-event-recorder.ts';
export * from './events/event.ts';
export * from './informers/informer.ts';
export { InformerFactory } from './informers/informer-factory.ts';
export type { InformerFactoryOptions } from './informers/informer-factory.ts';
export { compareResourceVersions } from './informers/resource-version.ts';
export * from './leader-election/election.ts';
export { runElection } from './leader-election/run-election.ts';
export { ClientError, isFenced } from './rest/errors.ts';
export type { AuthConfig, ClientConfig, ExecConfig } from './rest/config.ts';
export { connect, DEFAULT_RATE_LIMIT } from './rest/connect.ts';
export type { ConnectOptions } from './rest/connect.ts';
export { discover } from './rest/discovery.ts';
export type { DiscoveredResource, Discovery } from './rest/discovery.ts';
export { RestMapper } from './rest/rest-mapper.ts';
export { inClusterConfig } from './rest/in-cluster.ts';
export {
  configFrom,
  contextsOf,
  loadKubeconfig,
  loadLastingKubeconfig,
  loadOwnKubeconfig,
  parseKubeconfig,
} from './rest/kubeconfig.ts';
export type { KubeconfigContext } from './rest/kubeconfig.ts';
export { metadataOnly } from './rest/metadata-client.ts';
export { pause } from './rest/pause.ts';
export type { RequestTrace } from './rest/requester.ts';
export { TokenBucket } from './rest/token-bucket.ts';
export { isTransportError, TransportError } from './rest/transport.ts';
export type { TransportReason } from './rest/transport.ts';
export { isInitialEventsEnd } from './rest/watch-stream.ts';
export * from './workqueue/queue.ts';
export {
  bucketLimiter,
  controllerLimiter,
  exponentialLimiter,
  longestOf,
} from './workqueue/rate-limiters.ts';
export { runWorkers } from './workqueue/run-workers.ts';
export type { WorkersOptions } from './workqueue/run-workers.ts';
export { WorkQueue } from './workqueue/work-queue.ts';
