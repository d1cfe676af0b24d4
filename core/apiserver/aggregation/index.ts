export { Aggregator } from './aggregator.ts';
export { aggregationStage } from './aggregation-stage.ts';
export { createRemoteClient } from './remote-client.ts';
