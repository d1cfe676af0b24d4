/** One program: a host in the main thread; in a worker thread one of its components, or the load balancer. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { ComponentStart } from './component-thread.ts';
import type { LoadBalancerStart } from '../supervisor/load-balancer-thread.ts';

const program = new URL(import.meta.url);

if (!isMainThread && parentPort) {
  const start = workerData as ComponentStart | LoadBalancerStart;
  if ('loadBalancer' in start) {
    const { runLoadBalancerThread } = await import('../supervisor/load-balancer-thread.ts');
    await runLoadBalancerThread(start, parentPort);
  } else {
    const { runComponentThread } = await import('./component-thread.ts');
    await runComponentThread(start, parentPort);
  }
} else {
  const { runHost } = await import('./run-host.ts');
  const { supervisorPort } = await import('./supervisor-port.ts');
  // A host is a machine: what runs on it signs leases with its name.
  const [, , name] = process.argv;
  if (name !== undefined) process.env['HOSTNAME'] = name;
  // The terminal's Ctrl-C reaches every process of the group; the order of stopping is the supervisor's.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  runHost(program, supervisorPort());
}
