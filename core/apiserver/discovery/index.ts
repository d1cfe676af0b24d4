export { DiscoveryCatalog } from './catalog.ts';
export type { PublishedGroupVersion, PublishedResource, PublishedSchemas } from './catalog.ts';
export { discoveryStage } from './discovery-stage.ts';
export type { DiscoveryOptions } from './discovery-stage.ts';
