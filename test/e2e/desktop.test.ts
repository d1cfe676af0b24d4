import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sentences } from '../../core/contract/index.ts';
import { MENU_PAGES } from '../../main/app/menu-pages.ts';
import { askRaw, callFromPage } from '../support/contract-page.ts';
import { pageText } from '../support/devtools.ts';
import {
  devToolsAddressOf,
  endProcess,
  exitCodeOf,
  launchDesktop,
  openDesk,
  rendererPidsOf,
  spawnDesktop,
  type Desk,
  type Desktop,
} from '../support/electron.ts';
import { steady } from '../support/steady.ts';

/** For what hangs; the driver's own limit is short of what a busy machine may need. */
const WINDOW_LIMIT_MS = 120_000;
const heading = (desktop: Desktop, name: string) => desktop.page.getByRole('heading', { level: 1, name });
/** The menu comes after the first window is seen: until then there is nothing to choose. */
const chooseMenuItem = (desktop: Desktop, id: string): Promise<void> =>
  expect
    .poll(() =>
      desktop.app.evaluate(({ Menu }, wanted) => {
        const item = Menu.getApplicationMenu()?.getMenuItemById(wanted);
        item?.click();
        return item !== undefined && item !== null;
      }, id),
    )
    .toBe(true);
const themeOf = (desktop: Desktop) => desktop.page.evaluate(() => document.documentElement.dataset['theme']);

describe('one app', () => {
  let desk: Desk;
  let desktop: Desktop;

  beforeAll(async () => {
    desk = await openDesk();
    desktop = await launchDesktop(desk);
  });
  afterAll(async () => {
    await desktop?.close();
    await desk?.close();
  });
  beforeEach(async () => {
    await desktop.page.evaluate(() => (window.location.hash = '#/'));
    await heading(desktop, 'Overview').waitFor();
  });

  const streams = () => desktop.hook((hook) => hook.openStreamCount);
  /** Figures stand in the page and in the status bar: whatever they come by is open. */
  const whenShown = async (): Promise<void> => {
    await desktop.page.getByRole('heading', { name: 'Create your first cluster' }).waitFor();
    await desktop.page.getByRole('contentinfo').getByText('CPU').waitFor();
  };

  test('the app opens one window that shows the shell, and its pages can be walked', async () => {
    expect(await desktop.hook((hook) => hook.windowCount)).toBe(1);
    await desktop.page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
    await heading(desktop, 'Settings').waitFor();
    expect(desktop.page.url()).toBe('pilothouse-app://console/#/settings');
  });

  test('Ctrl K and the menu open the palette, which goes to a page', async () => {
    const palette = desktop.page.getByRole('combobox');
    await desktop.page.keyboard.press('Control+k');
    await palette.waitFor();
    await desktop.page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden' });

    await chooseMenuItem(desktop, 'palette');
    await palette.waitFor();
    await palette.fill('processes');
    await desktop.page.keyboard.press('Enter');
    await heading(desktop, 'Processes').waitFor();
  });

  test('every page of the Go menu exists', async () => {
    for (const path of MENU_PAGES) {
      await chooseMenuItem(desktop, `go:${path}`);
      await heading(desktop, sentences[`native.page.${path}`]).waitFor();
    }
  });

  test('menus and pages follow the language that a person chooses', async () => {
    const labels = () =>
      desktop.app.evaluate(({ Menu }) => {
        const menu = Menu.getApplicationMenu();
        return [
          ...(menu?.items.map(({ label }) => label) ?? []),
          menu?.getMenuItemById('new-window')?.label,
          menu?.getMenuItemById('go:/certificates')?.label,
        ];
      });
    await chooseMenuItem(desktop, 'go:/settings');
    await heading(desktop, 'Settings').waitFor();
    const before = await labels();
    await desktop.page.getByLabel('Language', { exact: true }).getByText('Deutsch').click();
    await heading(desktop, 'Einstellungen').waitFor();
    await expect
      .poll(labels)
      .toEqual([
        '&Datei',
        '&Bearbeiten',
        '&Ansicht',
        '&Gehe zu',
        '&Fenster',
        '&Hilfe',
        'Neues Fenster',
        'Zertifikate',
      ]);
    await desktop.page.getByLabel('Sprache', { exact: true }).getByText('English').click();
    await heading(desktop, 'Settings').waitFor();
    await expect.poll(labels).toEqual(before);
  });

  test('reloading a page leaves no stream open', async () => {
    await whenShown();
    const settled = await steady(streams);
    expect(settled).toBeGreaterThan(0);
    for (let i = 0; i < 5; i += 1)
      await askRaw(desktop.page, { kind: 'open', name: 'settings.watch', input: undefined });
    expect(await streams()).toBe(settled + 5);
    for (let i = 0; i < 3; i += 1) {
      await desktop.page.reload();
      await heading(desktop, 'Overview').waitFor();
    }
    await whenShown();
    await expect.poll(streams).toBe(settled);
  });

  test('a page that no one can see closes its streams and sets no timer, until it is seen again', async () => {
    // The driver keeps its page in focus, and such a page is never hidden: it is told what a hidden one is told.
    const become = (state: string) =>
      desktop.page.evaluate((told) => {
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => told });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    await desktop.page.evaluate(() => (window.location.hash = '#/processes'));
    await heading(desktop, 'Processes').waitFor();
    await desktop.page.getByRole('row').nth(1).waitFor();
    await desktop.page.getByRole('contentinfo').getByText('CPU').waitFor();
    const seen = await steady(streams);
    await become('hidden');
    // Those of the status bar and of the page.
    await expect.poll(streams).toBeLessThanOrEqual(seen - 2);
    const timersSet = () =>
      desktop.page.evaluate(async () => {
        const { setTimeout: real } = window;
        let count = 0;
        window.setTimeout = ((...args: Parameters<typeof real>) => {
          count += 1;
          return real(...args);
        }) as typeof real;
        // Longer than the ages and figures of this page stand still while it is seen.
        await new Promise((resolve) => real(resolve, 2500));
        window.setTimeout = real;
        return count;
      });
    // Asked again: what was on its way when the page was hidden may still set its last one.
    await expect.poll(timersSet).toBe(0);
    await become('visible');
    await expect.poll(streams).toBe(seen);
  });

  test('a second start ends immediately and hands its link to the first', async () => {
    expect(await exitCodeOf(spawnDesktop(desk, ['pilothouse://settings']))).toBe(0);
    await heading(desktop, 'Settings').waitFor();
    expect(await desktop.hook((hook) => hook.windowCount)).toBe(1);
  });

  test('a malformed link opens no page and is reported', async () => {
    await exitCodeOf(spawnDesktop(desk, ['pilothouse://user:secret@settings']));
    await desktop.page.getByText('Ignored an invalid link to Pilothouse').first().waitFor();
    expect(desktop.page.url()).toBe('pilothouse-app://console/#/');
  });

  test('calls get responses, and streams carry changes of other windows', async () => {
    expect(await callFromPage(desktop.page, 'app.info')).toMatchObject({
      kind: 'result',
      value: { shell: 'desktop', dataDirectory: desk.dataDirectory },
    });

    const opened = desktop.app.waitForEvent('window', { timeout: WINDOW_LIMIT_MS });
    await chooseMenuItem(desktop, 'new-window');
    const other = await opened;
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await desktop.hook((hook) => hook.windowCount)).toBe(2);
    await callFromPage(other, 'settings.write', { theme: 'dark' });
    await expect.poll(() => themeOf(desktop)).toBe('dark');
    await other.close();
  });
});

describe('an app of its own', () => {
  let desk: Desk;
  let running: Desktop[] = [];

  const start = async (...args: string[]): Promise<Desktop> => {
    const desktop = await launchDesktop(desk, args);
    running.push(desktop);
    return desktop;
  };
  const stop = async (desktop: Desktop): Promise<void> => {
    running = running.filter((other) => other !== desktop);
    await desktop.close();
  };

  beforeEach(async () => {
    desk = await openDesk();
  });
  afterEach(async () => {
    for (const desktop of [...running]) await stop(desktop);
    await desk.close();
  });

  test('a theme that was chosen holds after a restart, from the first paint on', async () => {
    const first = await start();
    await heading(first, 'Overview').waitFor();
    await first.page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
    await first.page.getByRole('main').getByText('Dark', { exact: true }).click();
    await expect.poll(() => themeOf(first)).toBe('dark');
    await expect.poll(() => first.app.evaluate(({ nativeTheme }) => nativeTheme.themeSource)).toBe('dark');
    await stop(first);

    const second = await start();
    expect([
      await second.app.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows()[0]?.getBackgroundColor().toLowerCase(),
      ),
      await second.page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches),
      await themeOf(second),
    ]).toEqual(['#0b1014', true, 'dark']);
  });

  // Without the driver: it holds on to the page that crashed and would keep the next one waiting.
  test.runIf(process.platform === 'linux')('a crashed page is loaded again with a notice', async () => {
    const child = spawnDesktop(desk, ['--remote-debugging-port=0']);
    try {
      const address = await devToolsAddressOf(child);
      const text = () => pageText(address).catch(() => '');
      await expect.poll(text).toContain('No cluster yet');
      const [crashed] = rendererPidsOf(child);
      process.kill(crashed!, 'SIGSEGV');
      await expect.poll(text).toContain('crashed and was reloaded');
      expect(child.exitCode).toBeNull();
    } finally {
      await endProcess(child);
    }
  });

  test('a link given at the start opens its page', async () => {
    const desktop = await start('pilothouse://processes');
    await heading(desktop, 'Processes').waitFor();
  });

  test('the window opens where it was closed', async () => {
    const place = { x: 120, y: 80, width: 1100, height: 700 };
    const boundsOf = (desktop: Desktop) =>
      desktop.app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getNormalBounds());
    const first = await start();
    await first.app.evaluate(
      ({ BrowserWindow }, bounds) => BrowserWindow.getAllWindows()[0]?.setBounds(bounds),
      place,
    );
    await expect.poll(() => boundsOf(first)).toEqual(place);
    await stop(first);
    const second = await start();
    expect(await boundsOf(second)).toEqual(place);
  });

  test('closing the last window quits, unless the app is kept in the tray', async () => {
    const closeAll = (desktop: Desktop) =>
      desktop.app.evaluate(({ BrowserWindow }) =>
        BrowserWindow.getAllWindows().forEach((window) => window.close()),
      );
    const desktop = await start();
    await heading(desktop, 'Overview').waitFor();
    await callFromPage(desktop.page, 'settings.write', { keepInTray: true });
    await closeAll(desktop);
    await expect.poll(() => desktop.hook((hook) => [hook.windowCount, hook.openStreamCount])).toEqual([0, 0]);

    const opened = desktop.app.waitForEvent('window', { timeout: WINDOW_LIMIT_MS });
    await exitCodeOf(spawnDesktop(desk));
    const page = await opened;
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await callFromPage(page, 'settings.write', { keepInTray: false });
    running = running.filter((other) => other !== desktop);
    const ended = exitCodeOf(desktop.app.process());
    await closeAll(desktop).catch(() => undefined);
    expect(await ended).toBe(0);
  });
});
