export { CLOUD_CONTROLLERS } from './cloud-controllers.ts';
export { CLOUD_CONTROLLER_MANAGER_BINDING, CLOUD_CONTROLLER_MANAGER_ROLE } from './config/access.ts';
export { DEFAULT_CLOUD_SETTINGS, readCloudSettings } from './config/config.ts';
export type { CloudSettings } from './config/config.ts';
export { CLOUD_FLAGS } from './config/flags.ts';
export { INSTANCE_FILE, markInstance, readInstances } from './loopback/instance-file.ts';
export type { InstanceRecord, InstanceState } from './loopback/instance-file.ts';
export type { CloudProvider, Instances, LoadBalancers, Route, Routes } from './provider/provider.ts';
export { runCloudControllerManager } from './run/run-cloud-controller-manager.ts';
