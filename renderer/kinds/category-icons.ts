import type { IconName } from '../components/icon-names.ts';
import type { Category } from './categories.ts';

export const categoryIcon: Readonly<Record<Category, IconName>> = {
  workloads: 'workloads',
  network: 'network',
  storage: 'storage',
  config: 'config',
  access: 'access',
  cluster: 'cluster',
  custom: 'doc',
};
