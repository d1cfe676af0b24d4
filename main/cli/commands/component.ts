import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { jsonLog } from '../../../core/base/node/log.ts';
import { keepHeapSmall } from '../../../core/base/node/small-heap.ts';
import { COMPONENT_NAMES, isComponent, loadComponent } from '../../../core/cluster/components/index.ts';
import { CACHE_VARIABLE, useCodeCache } from '../../../core/cluster/host/code-cache.ts';
import { keepCodeLater } from '../../../core/cluster/host/keep-code.ts';
import { EXIT_OK, usageError, type Command } from '../command.ts';
import { answerAboutItself, runUntilAsked } from '../run-component.ts';
import { builtHost } from './built-host.ts';

const NAMES = [...COMPONENT_NAMES, 'etcdutl'].join(' | ');

/** Its code as V8 compiled it is kept beside that of hosts: compiling takes a third of a member's start. */
const keepCompiledCode = (name: string): void => {
  const host = builtHost();
  if (!existsSync(host)) return;
  const directory = process.env[CACHE_VARIABLE] ?? fileURLToPath(new URL('code-cache', host));
  keepCodeLater(useCodeCache(directory, `alone-${name}`), () => undefined);
};

/** One component alone, with upstream's flags as they are, for who mixes ours with upstream's. */
export const component: Command = {
  usage: `  pilothouse component <${NAMES}> <upstream flags>

  Runs one component in the foreground. Use --help to list its flags.`,
  async run([name, ...args], context) {
    if (name === undefined || name === '--help' || name === '-h') {
      context.print(component.usage);
      return EXIT_OK;
    }
    if (name === 'etcdutl') return (await import('./component-etcdutl.ts')).runEtcdutl(args, context);
    if (!isComponent(name)) throw usageError(`component "${name}" not found; known components: ${NAMES}`);
    keepCompiledCode(name);
    const found = await loadComponent(name);
    // Not earlier: collecting while the code is loaded takes a tenth of the start and saves 1 MB.
    const heap = name === 'etcd' ? keepHeapSmall() : undefined;
    try {
      if (answerAboutItself(found, args, context)) return EXIT_OK;
      const settings = (await found.settings?.(args, process.env)) ?? { args, warnings: [] };
      const log = jsonLog(process.stderr, { level: found.logLevel(settings.args) });
      for (const warning of settings.warnings) log.write('warn', warning);
      return await runUntilAsked(await found.start(settings.args, { log }), context);
    } finally {
      heap?.dispose();
    }
  },
};
