import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildLinuxPackages, LINUX_TARGETS } from '../../resources/setup/linux/index.mjs';
import { ownFolder } from '../support/own-folder.ts';

/** An app of a few bytes: the formats do not care what is in it. */
const folder = ownFolder('pilothouse-packages-', 'data');
const unpacked = join(folder, 'unpacked');
const hasTool = (tool: string): boolean => spawnSync(tool, ['--version']).status === 0;
const targets = LINUX_TARGETS.filter((target) => target !== 'rpm' || hasTool('rpmbuild'));
const run = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: 'utf8' });

const build = (output: string): Promise<string[]> => {
  mkdirSync(output, { recursive: true });
  return buildLinuxPackages(targets, {
    unpacked,
    output,
    version: '1.2.3-rc.1',
    arch: 'x64',
    epoch: 1_700_000_000,
    description: 'For the test',
  });
};

let first: string[];
beforeAll(async () => {
  mkdirSync(join(unpacked, 'resources'), { recursive: true });
  for (const name of ['pilothouse', 'chrome-sandbox', 'resources/app.asar'])
    writeFileSync(join(unpacked, name), `#!/bin/sh\necho ${name} "$@"\n`);
  chmodSync(join(unpacked, 'pilothouse'), 0o700);
  first = await build(join(folder, 'first'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (extension: string): string => first.find((file) => file.endsWith(extension)) ?? '';

/** What a package manager puts on a system, besides the program itself. */
const SYSTEM_FILES = [
  '/usr/bin/pilothouse',
  '/usr/lib/systemd/system/pilothouse.service',
  '/usr/share/applications/pilothouse.desktop',
  '/usr/share/bash-completion/completions/pilothouse',
  '/usr/share/fish/vendor_completions.d/pilothouse.fish',
  '/usr/share/icons/hicolor/16x16/apps/pilothouse.png',
  '/usr/share/icons/hicolor/512x512/apps/pilothouse.png',
  '/usr/share/icons/hicolor/scalable/apps/pilothouse.svg',
  '/usr/share/man/man1/pilothouse.1.gz',
  '/usr/share/metainfo/dev.pilothouse.console.metainfo.xml',
  '/usr/share/mime/packages/pilothouse.xml',
  '/usr/share/zsh/vendor-completions/_pilothouse',
];

test.runIf(hasTool('dpkg-deb'))(
  'the deb holds the system files, and the sandbox helper belongs to root',
  () => {
    const listed = run('dpkg-deb', '--contents', fileOf('.deb')).split('\n');
    const paths = listed.map((line) => /\s\.(\/\S*)/.exec(line)?.[1]);
    expect(SYSTEM_FILES.filter((file) => !paths.includes(file))).toEqual([]);
    const modeOf = (path: string) =>
      listed
        .find((line) => line.includes(` .${path}`))
        ?.split(' ')
        .slice(0, 2)
        .join(' ');
    expect([
      modeOf('/opt/pilothouse/chrome-sandbox'),
      modeOf('/opt/pilothouse/pilothouse'),
      modeOf('/opt/pilothouse/resources/app.asar'),
      run('dpkg-deb', '--field', fileOf('.deb'), 'Version').trim(),
    ]).toEqual(['-rwsr-xr-x root/root', '-rwxr-xr-x root/root', '-rw-r--r-- root/root', '1.2.3~rc.1']);
  },
);

test.runIf(hasTool('rpmbuild'))('the rpm holds the same files, and requires what Chromium links to', () => {
  const listed = run(
    'rpm',
    '-qp',
    '--queryformat',
    '[%{FILEMODES:perms} %{FILENAMES}\\n]',
    fileOf('.rpm'),
  ).split('\n');
  const paths = listed.map((line) => line.split(' ')[1]);
  expect(SYSTEM_FILES.filter((file) => !paths.includes(file))).toEqual([]);
  expect(listed).toContain('-rwsr-xr-x /opt/pilothouse/chrome-sandbox');
  expect(paths.filter((path) => path === '/usr' || path === '/usr/share' || path === '/opt')).toEqual([]);
  expect(run('rpm', '-qp', '--requires', fileOf('.rpm'))).toContain('gtk3');
});

test('the archive runs from wherever it is unpacked', () => {
  const place = join(folder, 'place');
  mkdirSync(place);
  run('tar', '-xzf', fileOf('.tar.gz'), '-C', place);
  const launcher = join(place, 'pilothouse-1.2.3-rc.1-linux-x64/bin/pilothouse');
  writeFileSync(join(place, 'a file'), '');
  expect([
    run(launcher),
    run(launcher, '--data', '/srv', 'pilothouse://raft'),
    run('sh', '-c', `cd '${place}' && '${launcher}' './a file'`),
    run(launcher, '--version'),
    run(launcher, 'status', '--no-sandbox'),
  ]).toEqual([
    'pilothouse\n',
    'pilothouse --data /srv pilothouse://raft\n',
    `pilothouse ${place}/a file\n`,
    'pilothouse --command-line --no-sandbox --ozone-platform=headless --log-level=3 -- --version\n',
    'pilothouse --command-line --no-sandbox --ozone-platform=headless --log-level=3 -- status --no-sandbox\n',
  ]);
});

test('two builds of one commit are the same, bit by bit', async () => {
  const second = await build(join(folder, 'second'));
  const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  expect(second.map(digest)).toEqual(first.map(digest));
  expect(first.every((file) => existsSync(file))).toBe(true);
});
