import { definePage } from '../page.ts';

export const page = definePage({
  id: 'doctor',
  path: '/doctor',
  group: 'operate',
  order: 28,
  icon: 'search',
  title: 'doctorPage.title',
  goKey: 'I',
  component: () => import('./DoctorPage.vue'),
});
