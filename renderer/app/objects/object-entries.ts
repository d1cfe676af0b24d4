import type { IconName } from '../../components/icon-names.ts';
import { objectRoute } from '../../kinds/object-link.ts';
import { t } from '../../locales/i18n.ts';
import { actionOf, actionsFor } from '../../pages/resources/detail/object-actions.ts';
import type { PaletteEntry } from '../../pages/page.ts';
import type { IndexedObject } from './object-search.ts';

/** Kinds whose pods write logs that are read together. */
const WITH_LOGS = new Set(['Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'Service']);

type Go = (path: string, query: Readonly<Record<string, string>>) => unknown;

/** What can be seen of an object and done to it. What changes it is asked about in its own dialog, with consequences. */
export const objectActions = ({ object, resource }: IndexedObject, go: Go): PaletteEntry[] => {
  const { path, query } = objectRoute(resource, object.namespace, object.name);
  const isNode = resource.kind === 'Node' && resource.group === '';
  const isPod = resource.kind === 'Pod' && resource.group === '';
  const tab = (id: string, icon: IconName, title: string): PaletteEntry => ({
    id: `object-${id}`,
    group: 'places',
    icon,
    title,
    run: () => go(path, { ...query, tab: id }),
  });
  const acts = [
    ...actionsFor({ resource, namespace: object.namespace, name: object.name }, undefined),
    ...(isNode ? (['drain'] as const) : []),
  ];
  return [
    tab('summary', 'doc', t('detail.summary')),
    ...(WITH_LOGS.has(resource.kind) ? [tab('logs', 'events', t('detail.logs'))] : []),
    ...(isPod ? [tab('terminal', 'term', t('detail.terminal'))] : []),
    tab('yaml', 'file', t('detail.yaml')),
    tab('events', 'bell', t('detail.events')),
    ...(resource.namespaced
      ? [
          {
            id: 'object-graph',
            group: 'places',
            icon: 'graph',
            title: t('graph.title'),
            run: () => go('/graph', { namespace: object.namespace, kind: resource.kind, name: object.name }),
          } as const,
        ]
      : []),
    {
      id: 'object-edit',
      group: 'actions',
      icon: 'editor',
      title: t('detail.edit'),
      run: () => go('/editor', { kind: query.kind, open: query.open }),
    },
    {
      id: 'object-copy',
      group: 'actions',
      icon: 'copy',
      title: t('palette.copyName'),
      run: () => navigator.clipboard.writeText(object.name),
    },
    ...acts.map((act): PaletteEntry => ({
      id: `object-act-${act}`,
      group: 'actions',
      icon: act === 'delete' ? 'trash' : act === 'drain' ? 'unplug' : actionOf(act).icon,
      title: act === 'delete' ? t('detail.delete') : t(`${act}.button`),
      run: () => go(path, { ...query, act }),
    })),
  ];
};

/** One object as a result: Enter opens it, Tab shows what can be done to it. */
export const objectEntry = (found: IndexedObject, icon: IconName, go: Go): PaletteEntry => {
  const { object, resource } = found;
  const { path, query } = objectRoute(resource, object.namespace, object.name);
  return {
    id: `found-${object.resource}-${object.namespace}-${object.name}`,
    group: 'found',
    icon,
    title: object.name,
    hint: [resource.kind, object.namespace, object.addresses[0]].filter(Boolean).join(', '),
    run: () => go(path, query),
    actions: () => objectActions(found, go),
  };
};
