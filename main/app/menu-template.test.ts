import { expect, test } from 'vitest';
import { menuTemplate, type MenuActions, type MenuOptions } from './menu-template.ts';

const options = (
  over: Partial<MenuOptions> = {},
): { asked: string[]; template: ReturnType<typeof menuTemplate> } => {
  const asked: string[] = [];
  const note = (name: string) => (detail?: unknown) =>
    void asked.push(detail ? `${name} ${String(detail)}` : name);
  const names = ['newWindow', 'openKubeconfig', 'openPalette', 'go', 'showLog', 'openWebsite'] as const;
  const actions = Object.fromEntries(names.map((name) => [name, note(name)])) as unknown as MenuActions;
  const pages = ['/raft'] as const;
  return { asked, template: menuTemplate({ platform: 'linux', packaged: true, pages, actions, ...over }) };
};

const itemsOf = (template: ReturnType<typeof menuTemplate>) =>
  template.flatMap((menu) => (Array.isArray(menu.submenu) ? menu.submenu : []));

test('a packaged app offers no developer tools', () => {
  const roles = (packaged: boolean) => itemsOf(options({ packaged }).template).map((item) => item.role);
  expect([roles(true).includes('toggleDevTools'), roles(false).includes('toggleDevTools')]).toEqual([
    false,
    true,
  ]);
});

test('a page in the menu asks for its path', () => {
  const { asked, template } = options();
  const item = itemsOf(template).find(({ id }) => id === 'go:/raft');
  (item?.click as () => void)();
  expect(asked).toEqual(['go /raft']);
});

test('the palette key is left to the page', () => {
  const palette = itemsOf(options().template).find(({ id }) => id === 'palette');
  expect(palette).toMatchObject({ accelerator: 'CmdOrCtrl+K', registerAccelerator: false });
});
