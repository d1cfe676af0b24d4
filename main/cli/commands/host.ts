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

  kill sends SIGKILL to the host process, pause sends SIGSTOP, stop shuts it down gracefully. A host that you kill or
  stop stays down until start; a host that exits unexpectedly is restarted. restart stops it gracefully, starts it and
  waits until all its components are ready.
  With a COMPONENT, kill ends its thread (the kubelet restarts it), stop removes its manifest and start restores it.
  Actions that lose quorum or the last API server require --yes.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', name, component, ...more] = words;
    const { values, dataDirectory, json } = parseOptions({ yes: { type: 'boolean' } }, rest, context);
    if (name === undefined || more.length > 0 || !has(VERBS, verb))
      throw usageError(`host requires ${Object.keys(VERBS).join('|')} and a host name`);
    if (component !== undefined && !has(COMPONENT_VERBS, verb))
      throw usageError(
        `host ${verb} does not accept a component; ${Object.keys(COMPONENT_VERBS).join('|')} do`,
      );
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
