import { callControl } from '../../../core/cluster/control/client.ts';
import type { ControlMethod } from '../../../core/cluster/control/protocol.ts';
import { EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';
import { confirmAction } from './preview.ts';

const VERBS = {
  kill: { method: 'host.kill', done: 'killed' },
  stop: { method: 'host.stop', done: 'stopped' },
  start: { method: 'host.start', done: 'started' },
  restart: { method: 'host.restart', done: 'restarted' },
  pause: { method: 'host.pause', done: 'paused' },
  resume: { method: 'host.resume', done: 'resumed' },
} as const satisfies Record<string, { method: ControlMethod; done: string }>;

const COMPONENT_VERBS = {
  kill: { method: 'component.kill', done: 'killed' },
  stop: { method: 'component.stop', done: 'stopped' },
  start: { method: 'component.start', done: 'started' },
} as const satisfies Record<string, { method: ControlMethod; done: string }>;

const has = <T extends object>(table: T, key: string): key is keyof T & string => Object.hasOwn(table, key);

export const host: Command = {
  usage: `  pilothouse host kill|stop|start|restart|pause|resume NAME [COMPONENT] [--yes] [--data DIR] [-o json]

  kill is a SIGKILL of the host's process, pause a SIGSTOP, stop an orderly end. A host stays down until start; restart
  ends it in order and waits until everything on it is ready again.
  With a COMPONENT, kill ends its thread (the kubelet starts it again), stop sets its manifest aside, start puts
  it back. What would cost the quorum or the last API server wants --yes.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', name, component, ...more] = words;
    const { values, dataDirectory, json } = parseOptions({ yes: { type: 'boolean' } }, rest, context);
    if (name === undefined || more.length > 0 || !has(VERBS, verb))
      throw usageError(`host takes ${Object.keys(VERBS).join('|')} and the name of a host`);
    if (component !== undefined && !has(COMPONENT_VERBS, verb))
      throw usageError(`host ${verb} takes no component; ${Object.keys(COMPONENT_VERBS).join('|')} do`);
    const isComponent = component !== undefined && has(COMPONENT_VERBS, verb);
    const isAssured = (values as { yes?: boolean }).yes === true;
    const action = isComponent
      ? ({ kind: COMPONENT_VERBS[verb].method, host: name, component } as const)
      : ({ kind: VERBS[verb].method, host: name } as const);
    await confirmAction(dataDirectory, action, isAssured, context);
    if (isComponent)
      await callControl(dataDirectory, COMPONENT_VERBS[verb].method, { host: name, component });
    else await callControl(dataDirectory, VERBS[verb].method, { host: name });
    const { done } = VERBS[verb];
    const what = isComponent ? `${component} on ${name}` : name;
    context.print(
      json ? JSON.stringify({ host: name, ...(isComponent && { component }), done }) : `${what} ${done}`,
    );
    return EXIT_OK;
  },
};
