import * as v from 'valibot';
import { defineAction, name, type ActionTraits } from './define.ts';

interface OnHost {
  readonly host: string;
}
interface OnComponent extends OnHost {
  readonly component: string;
}

const onHost = (verb: string, traits: ActionTraits<OnHost>): ActionTraits<OnHost> => ({
  meaning: () => `host.${verb}`,
  subject: ({ host }) => host,
  words: ({ host }) => ['host', verb, host],
  ...traits,
});

const onComponent = (verb: string, traits: ActionTraits<OnComponent>): ActionTraits<OnComponent> => ({
  meaning: () => `component.${verb}`,
  subject: ({ component }) => component,
  words: ({ host, component }) => ['host', verb, host, component],
  ...traits,
});

const FLAGS_MAX = 16;
export const flagChanges = v.pipe(
  v.array(
    v.object({
      name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,127}$/)),
      /** Null removes the flag. */
      value: v.nullable(v.pipe(v.string(), v.maxLength(4096), v.regex(/^[^\n\r]*$/))),
    }),
  ),
  v.minLength(1),
  v.maxLength(FLAGS_MAX),
);

const host = { host: name };
const component = { host: name, component: name };

export const hostActions = {
  'host.kill': defineAction('host.kill', host, onHost('kill', { icon: 'drill' })),
  'host.stop': defineAction('host.stop', host, onHost('stop', { icon: 'stopped' })),
  'host.start': defineAction('host.start', host, onHost('start', { icon: 'play', typing: 'never' })),
  /** Stopped in order and started again; what was broken in it intentionally is whole after it. */
  'host.restart': defineAction('host.restart', host, onHost('restart', { icon: 'restart' })),
  'host.pause': defineAction('host.pause', host, onHost('pause', { icon: 'pause' })),
  'host.resume': defineAction('host.resume', host, onHost('resume', { icon: 'play', typing: 'never' })),
  'component.kill': defineAction('component.kill', component, onComponent('kill', { icon: 'drill' })),
  'component.stop': defineAction('component.stop', component, onComponent('stop', { icon: 'stopped' })),
  'component.start': defineAction(
    'component.start',
    component,
    onComponent('start', { icon: 'play', typing: 'never' }),
  ),
  /** Sets or removes flags in the manifests of a component, one host after the other. */
  'component.flags': defineAction(
    'component.flags',
    { component: name, flags: flagChanges },
    {
      icon: 'editor',
      title: ({ component: values }) => ({ values: { component: values } }),
      meaning: () => 'component.flags',
      subject: (action) => action.component,
    },
  ),
};
