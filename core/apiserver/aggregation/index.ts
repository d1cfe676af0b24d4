export { Aggregator } from './aggregator.ts';
export { aggregationStage } from './aggregation-stage.ts';
export { createRemoteClient, type RemoteClient } from './remote-client.ts';
