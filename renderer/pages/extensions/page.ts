import { useExtensionStore } from '../../stores/extensions.ts';
import { definePage } from '../page.ts';

export const page = definePage({
  id: 'extensions',
  path: '/extensions',
  group: 'tools',
  order: 35,
  icon: 'cube',
  title: 'extensions.title',
  component: () => import('./ExtensionsPage.vue'),
  standsAlone: true,
  palette: () =>
    useExtensionStore().shown.map(({ name, title }) => ({
      id: `extension-${name}`,
      group: 'places' as const,
      icon: 'cube' as const,
      title,
      hint: name,
      run: () => (window.location.hash = `#/extensions?${new URLSearchParams({ name })}`),
    })),
});
