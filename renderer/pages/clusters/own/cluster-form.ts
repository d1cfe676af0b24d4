import type { ClusterDefaults, ClusterWishes } from '../../../../core/contract/index.ts';
import { quoted } from '../../../../core/base/shell-words.ts';
import { t } from '../../../locales/i18n.ts';

/** What a person types: text until it is sent. */
export interface ClusterForm {
  name: string;
  controlPlanes: string;
  topology: ClusterWishes['topology'];
  etcdMembers: string;
  workers: string;
  kubernetesVersion: string;
  /** Empty: a folder of the cluster's name below the console's own. */
  directory: string;
}

export const MEMBER_CHOICES = ['1', '3', '5'] as const;
export const WORKERS_MAX = 5_000;
const NAME = /^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/;

export const formOf = ({ wishes }: ClusterDefaults): ClusterForm => ({
  name: wishes.name,
  controlPlanes: `${wishes.controlPlanes}`,
  topology: wishes.topology,
  // A stacked cluster has no members of its own to choose; external ones begin with the usual three.
  etcdMembers: `${wishes.etcdMembers === 0 ? 3 : wishes.etcdMembers}`,
  workers: `${wishes.workers}`,
  kubernetesVersion: wishes.kubernetesVersion,
  directory: wishes.directory ?? '',
});

export const wishesOf = (form: ClusterForm): ClusterWishes => ({
  name: form.name.trim(),
  directory: form.directory.trim() === '' ? null : form.directory.trim(),
  topology: form.topology,
  controlPlanes: Number(form.controlPlanes),
  etcdMembers: form.topology === 'external' ? Number(form.etcdMembers) : Number(form.controlPlanes),
  workers: Number(form.workers),
  kubernetesVersion: form.kubernetesVersion,
});

export type FormErrors = Readonly<Partial<Record<'name' | 'workers', string>>>;

export const errorsOf = (form: ClusterForm, taken: readonly string[]): FormErrors => {
  const name = form.name.trim();
  const workers = form.workers.trim();
  return {
    ...(!NAME.test(name)
      ? { name: t('own.form.name.invalid') }
      : taken.includes(name)
        ? { name: t('own.form.name.taken', { name }) }
        : {}),
    ...(/^\d+$/.test(workers) && Number(workers) <= WORKERS_MAX
      ? {}
      : { workers: t('own.form.workers.invalid', { max: WORKERS_MAX }) }),
  };
};

/** Where the cluster goes. */
export const folderOf = (form: ClusterForm, parentDirectory: string): string => {
  if (form.directory.trim() !== '') return form.directory.trim();
  const separator = parentDirectory.includes('\\') ? '\\' : '/';
  return `${parentDirectory.replace(/[/\\]$/, '')}${separator}${form.name.trim()}`;
};

/** How many machines may fail before writes stop. */
export const toleranceOf = (form: ClusterForm): number => {
  const planes = Number(form.controlPlanes);
  const members = form.topology === 'external' ? Number(form.etcdMembers) : planes;
  return Math.min(Math.ceil(members / 2) - 1, planes - 1);
};

/** The same cluster, run by a shell. */
export const upCommand = (form: ClusterForm, parentDirectory: string): string =>
  [
    'pilothouse',
    'up',
    '--data',
    folderOf(form, parentDirectory),
    ...(form.topology === 'external' ? ['--topology', 'external', '--etcd-members', form.etcdMembers] : []),
    '--control-planes',
    form.controlPlanes,
    '--workers',
    form.workers,
    '--kubernetes-version',
    form.kubernetesVersion,
  ]
    .map(quoted)
    .join(' ');
