import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Registry as Metrics } from '../../base/metrics/index.ts';
import type { Random } from '../../base/random.ts';
import type { HealthRegistry } from '../../component/health.ts';
import type { ApiServerConfig } from '../config/config.ts';

/** What every part of one API server is built from. */
export interface Surroundings {
  readonly config: ApiServerConfig;
  readonly metrics: Metrics;
  readonly health: HealthRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
