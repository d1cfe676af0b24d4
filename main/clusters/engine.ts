import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { controlHandlers } from '../../core/cluster/control/actions.ts';
import { lateDrills } from '../../core/cluster/drills/late-drills.ts';
import { controlEndpoint } from '../../core/cluster/data-folder/control-endpoint.ts';
import { serveControl } from '../../core/cluster/control/server.ts';
import { assertPortsFree } from '../../core/cluster/data-folder/network.ts';
import { endpointsOf } from '../../core/cluster/config/endpoints.ts';
import { openDataFolder, type DataFolder, type SpecWishes } from '../../core/cluster/data-folder/open.ts';
import { resumeMembership } from '../../core/cluster/membership/resume.ts';
import { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { HostLauncher } from '../../core/cluster/supervisor/host-launcher.ts';
import { findNetwork } from '../../core/cluster/data-folder/network.ts';

/** How this process starts hosts: the built program, and what makes a process of it. */
export interface Hosting {
  readonly program: URL;
  readonly launch: HostLauncher;
}

/** What a hosted cluster needs of `core/cluster`. Loaded when the first cluster is made or started. */
export interface Engine {
  /** Locks the folder, and makes a new cluster in it when there is none. */
  open(directory: string, wishes: SpecWishes, nameOfNew?: string): Promise<DataFolder>;
  /** One clear line when something else listens where this cluster will. */
  assertStartable(config: ClusterConfig): Promise<void>;
  supervise(folder: DataFolder): Supervisor;
  /** The socket by which the command line reaches a running cluster. */
  serveCommands(supervisor: Supervisor): Promise<{ close(): Promise<void> }>;
  findNetwork(seed: string): Promise<number>;
}

export interface EngineOptions {
  readonly hosting: Hosting;
  readonly clock: Clock;
  readonly log: Log;
}

export const createEngine = ({ hosting, clock, log }: EngineOptions): Engine => ({
  open: (directory, wishes, nameOfNew) => openDataFolder(directory, wishes, clock, nameOfNew),
  assertStartable: (config) => assertPortsFree(endpointsOf(config), true),
  supervise: (folder) => new Supervisor({ folder, ...hosting, clock, log, resumeMembership }),
  serveCommands: (supervisor) =>
    serveControl(
      controlEndpoint(supervisor.folder.directory),
      controlHandlers(supervisor, lateDrills(supervisor)),
    ),
  findNetwork,
});
