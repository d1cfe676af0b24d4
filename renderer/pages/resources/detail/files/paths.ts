import { listAt, textAt, type KubeObject } from '../../../../kinds/kube-object.ts';

export interface Crumb {
  readonly name: string;
  readonly path: string;
}

/** The folders above a path, from the root to itself. */
export const crumbsOf = (path: string): Crumb[] => {
  const parts = path.split('/').filter((part) => part !== '');
  return [
    { name: '/', path: '/' },
    ...parts.map((name, at) => ({ name, path: `/${parts.slice(0, at + 1).join('/')}` })),
  ];
};

export const childOf = (folder: string, name: string): string =>
  folder === '/' ? `/${name}` : `${folder}/${name}`;

/** What was typed, as an absolute path without empty parts, `.` and `..`. */
export const typedPath = (text: string): string => {
  const parts: string[] = [];
  for (const part of text.trim().split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
};

/** Where a container starts, and where its volumes are. */
export const placesOf = (pod: KubeObject, container: string): { start: string; mounts: string[] } => {
  const found = ['containers', 'initContainers', 'ephemeralContainers']
    .flatMap((field) => listAt(pod, 'spec', field))
    .find((each) => textAt(each, 'name') === container);
  const mounts = listAt(found, 'volumeMounts').map((mount) => textAt(mount, 'mountPath'));
  return { start: textAt(found, 'workingDir') || '/', mounts: [...new Set(mounts)].sort() };
};

/** A name for this machine's disk: what the browser does not allow in one is replaced. */
export const localName = (name: string, isFolder: boolean): string =>
  `${name.replace(/[\u0000-\u001f\u007f<>:"/\\|?*]/g, '_')}${isFolder ? '.tar' : ''}`;
