import type { Registry } from '../../base/metrics/index.ts';
import type { FlowSchema } from './configuration.ts';
import type { Classified, FlowController } from './flow-controller.ts';
import type { RejectReason } from './queue-set.ts';

const WAIT_BUCKETS_SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const LABEL_SETS_MAX = 1000;
const PREFIX = 'apiserver_flowcontrol_';

/** Of one FlowSchema and the level its requests go to. */
export interface FlowMetrics {
  rejected(reason: RejectReason): void;
  dispatched(waitedSeconds: number): void;
  /** The change of requests and seats that wait or execute. */
  waiting(requests: 1 | -1, seats: number): void;
  executing(requests: 1 | -1, seats: number): void;
  executed(type: 'regular' | 'watch', seconds: number): void;
}

/** Upstream's names. What follows from the levels is read when it is read. */
export const flowMetrics = (
  metrics: Registry,
  controller: FlowController,
): ((classified: Classified) => FlowMetrics) => {
  const labels = ['priority_level', 'flow_schema'] as const;
  const gauge = (name: string, help: string) =>
    metrics.gaugeFamily({ name: `${PREFIX}${name}`, help, labels, labelSetsMax: LABEL_SETS_MAX });
  const rejected = metrics.counterFamily({
    name: `${PREFIX}rejected_requests_total`,
    help: 'Number of requests rejected by API Priority and Fairness subsystem',
    labels: [...labels, 'reason'],
    labelSetsMax: LABEL_SETS_MAX,
  });
  const dispatched = metrics.counterFamily({
    name: `${PREFIX}dispatched_requests_total`,
    help: 'Number of requests executed by API Priority and Fairness subsystem',
    labels,
    labelSetsMax: LABEL_SETS_MAX,
  });
  const waitSeconds = metrics.histogramFamily({
    name: `${PREFIX}request_wait_duration_seconds`,
    help: 'Length of time a request spent waiting in its queue',
    labels: [...labels, 'execute'],
    buckets: WAIT_BUCKETS_SECONDS,
    labelSetsMax: LABEL_SETS_MAX,
  });
  const runSeconds = metrics.histogramFamily({
    name: `${PREFIX}request_execution_seconds`,
    help: 'Duration of initial stage (for a WATCH) or any (for a non-WATCH) execution of a request',
    labels: [...labels, 'type'],
    buckets: WAIT_BUCKETS_SECONDS,
    labelSetsMax: LABEL_SETS_MAX,
  });
  const queued = gauge('current_inqueue_requests', 'Number of requests currently pending in queues');
  const queuedSeats = gauge('current_inqueue_seats', 'Number of seats currently pending in queues');
  const running = gauge('current_executing_requests', 'Number of requests in regular execution phase');
  const runningSeats = gauge(
    'current_executing_seats',
    'Concurrency (number of seats) occupied by the currently executing requests',
  );
  const levelGauge = (name: string, help: string) =>
    metrics.gaugeFamily({ name: `${PREFIX}${name}`, help, labels: ['priority_level'] });
  const seats = {
    nominal: levelGauge(
      'nominal_limit_seats',
      'Nominal number of execution seats configured for each priority level',
    ),
    lower: levelGauge(
      'lower_limit_seats',
      'Configured lower bound on number of execution seats available to each priority level',
    ),
    upper: levelGauge(
      'upper_limit_seats',
      'Configured upper bound on number of execution seats available to each priority level',
    ),
    current: levelGauge(
      'current_limit_seats',
      'current derived number of execution seats available to each priority level',
    ),
    high: levelGauge(
      'demand_seats_high_watermark',
      'High watermark, over last adjustment period, of demand_seats',
    ),
    average: levelGauge(
      'demand_seats_average',
      'Time-weighted average, over last adjustment period, of demand_seats',
    ),
    deviation: levelGauge(
      'demand_seats_stdev',
      'Time-weighted standard deviation, over last adjustment period, of demand_seats',
    ),
    smoothed: levelGauge('demand_seats_smoothed', 'Smoothed seat demands'),
    currentR: levelGauge('current_r', 'R(time of last change)'),
  };
  const fairFraction = metrics.gauge({
    name: `${PREFIX}seat_fair_frac`,
    help: "Fair fraction of server's concurrency to allocate to each priority level that can use it",
  });
  metrics.beforeExpose(() => {
    fairFraction.set(controller.levels.fairFraction);
    for (const {
      config,
      queues,
      nominalSeats,
      minSeats,
      maxSeats,
      currentSeats,
    } of controller.levels.all()) {
      const values = {
        nominal: nominalSeats,
        lower: minSeats,
        upper: maxSeats,
        current: currentSeats,
        high: queues.demand.highWatermark,
        average: queues.demand.average,
        deviation: queues.demand.deviation,
        smoothed: queues.demand.smoothed,
        currentR: queues.currentR,
      };
      for (const [name, value] of Object.entries(values))
        seats[name as keyof typeof values].labels(config.name).set(value);
    }
  });
  const create = (level: string, schema: string): FlowMetrics => {
    const dispatches = dispatched.labels(level, schema);
    const waited = waitSeconds.labels(level, schema, 'true');
    const inQueue = queued.labels(level, schema);
    const seatsInQueue = queuedSeats.labels(level, schema);
    const inExecution = running.labels(level, schema);
    const seatsInExecution = runningSeats.labels(level, schema);
    const ran = runSeconds.labels(level, schema, 'regular');
    return {
      rejected: (reason) => rejected.labels(level, schema, reason).inc(),
      dispatched(seconds) {
        dispatches.inc();
        waited.observe(seconds);
      },
      waiting(requests, width) {
        inQueue.add(requests);
        seatsInQueue.add(requests * width);
      },
      executing(requests, width) {
        inExecution.add(requests);
        seatsInExecution.add(requests * width);
      },
      executed(type, seconds) {
        if (type === 'regular') ran.observe(seconds);
        else runSeconds.labels(level, schema, type).observe(seconds);
      },
    };
  };
  // Looking instruments up by their labels costs more than the rest of an uncontended request.
  const known = new WeakMap<FlowSchema, { readonly level: string; readonly instruments: FlowMetrics }>();
  return ({ schema, level: { config } }) => {
    const found = known.get(schema);
    if (found?.level === config.name) return found.instruments;
    const instruments = create(config.name, schema.name);
    known.set(schema, { level: config.name, instruments });
    return instruments;
  };
};
