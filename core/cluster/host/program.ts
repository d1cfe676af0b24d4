/** One program: a host in the main thread; in a worker thread one of its components, its simulated containers, or the load balancer. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { CACHE_VARIABLE, COMPILE_ARGUMENT, useCodeCache } from './code-cache.ts';
import type { ComponentStart } from './component-thread.ts';
import type { ContentStart } from './content-thread.ts';
import { keepCodeLater } from './keep-code.ts';
import type { LoadBalancerStart } from '../load-balancer/load-balancer-thread.ts';

const program = new URL(import.meta.url);
const HOST = 'host';
const LOAD_BALANCER = 'load-balancer';
const CONTENT = 'content';

const start = (workerData ?? {}) as Partial<ComponentStart> &
  Partial<LoadBalancerStart> &
  Partial<ContentStart>;
/** `host.js --compile` makes the caches of all kinds of threads and runs nothing, so that the first start finds them. */
const isCompiling = isMainThread && process.argv[2] === COMPILE_ARGUMENT;
const compiledKind = isCompiling ? process.argv[3] : undefined;
const kind =
  compiledKind ?? (isMainThread ? HOST : (start.component ?? (start.content ? CONTENT : LOAD_BALANCER)));
const cache = useCodeCache(
  process.env[CACHE_VARIABLE] ?? join(dirname(fileURLToPath(program)), 'code-cache'),
  kind,
  { isBuild: compiledKind !== undefined },
);
/** A heap that has grown for the start would keep its size for hours: a thread at rest allocates too little to be collected. */
const collect = (): void => void globalThis.gc?.();
/** The modules that a thread of this kind begins with. */
const loadAll = async (): Promise<void> => {
  if (kind === HOST) await Promise.all([import('./run-host.ts'), import('./supervisor-port.ts')]);
  else if (kind === CONTENT) await import('./content-thread.ts');
  else if (kind === LOAD_BALANCER) await import('../load-balancer/load-balancer-thread.ts');
  else {
    await import('./component-thread.ts');
    const { loadComponent } = await import('../components/index.ts');
    await loadComponent(kind);
  }
};

const compile = async (): Promise<boolean> => {
  if (compiledKind !== undefined) {
    await loadAll();
    return cache.save();
  }
  const { compileAll } = await import('./compile-all.ts');
  const { COMPONENT_NAMES } = await import('../components/index.ts');
  // A kubelet on its own is no thread of a host.
  const threads = COMPONENT_NAMES.filter((name) => name !== 'kubelet');
  return compileAll(program, { ofHosts: [HOST, CONTENT, ...threads], ofSupervisor: [LOAD_BALANCER] });
};

const main = async (): Promise<void> => {
  if (isCompiling) {
    const isDone = await compile();
    cache.release();
    process.exit(isDone ? 0 : 1);
  }
  keepCodeLater(cache, collect);
  if (!isMainThread && parentPort) {
    if (start.loadBalancer !== undefined) {
      const { runLoadBalancerThread } = await import('../load-balancer/load-balancer-thread.ts');
      await runLoadBalancerThread(start as LoadBalancerStart, parentPort);
    } else if (start.content !== undefined) {
      const { runHostContent } = await import('./content-thread.ts');
      runHostContent(start as ContentStart, parentPort);
    } else {
      const { runComponentThread } = await import('./component-thread.ts');
      await runComponentThread(start as ComponentStart, parentPort);
    }
    return;
  }
  const { runHost } = await import('./run-host.ts');
  const { supervisorPort } = await import('./supervisor-port.ts');
  // The terminal's Ctrl-C reaches every process of the group; the order of stopping is the supervisor's.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  runHost(program, supervisorPort());
};

// What cannot even be loaded ends the thread or the process with its error.
void main();
