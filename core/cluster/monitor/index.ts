export { startClusterMonitor, type ClusterMonitor } from './cluster-monitor.ts';
export { metricsFolder, openClusterRecords, type ClusterRecords } from './cluster-records.ts';
export { LeasesWatch } from './leases/leases-watch.ts';
export { MemoryHistory } from './history/history.ts';
export { answerQuery, type Histories } from './history/query.ts';
export { IN_FLIGHT_DEFAULTS } from './in-flight-limits.ts';
export { Sampler, type SampledTarget } from './sampler.ts';
export { openClusterAccess, type ClusterAccess } from './scrape/cluster-access.ts';
