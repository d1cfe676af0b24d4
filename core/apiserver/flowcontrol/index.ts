export { maxInFlightStage, MUTATING_IN_FLIGHT_MAX, READ_ONLY_IN_FLIGHT_MAX } from './max-in-flight.ts';
export type { MaxInFlightOptions } from './max-in-flight.ts';
export { FlowController } from './flow-controller.ts';
export { fairnessStage } from './fairness-stage.ts';
export { flowDebugStage } from './debug-stage.ts';
