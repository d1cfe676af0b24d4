import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mountPointsBelow } from './bind-mounts.ts';
import { openSubPath, pathOf, resolveSubPath, type ResolvedSubPath } from './sub-path.ts';

test('mount points are found by whole names, with blanks and in order', () => {
  const mountinfo = [
    '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw',
    '40 22 254:0 /x /pods/a/volume-subpaths/v/app/0 rw shared:1 - ext4 /dev/root rw',
    '41 22 0:5 / /pods/ab rw - tmpfs none rw',
    '42 40 0:6 / /pods/a/with\\040blank\\134 rw - tmpfs none rw',
    '',
  ].join('\n');
  expect(mountPointsBelow(mountinfo, '/pods/a')).toEqual([
    '/pods/a/volume-subpaths/v/app/0',
    '/pods/a/with blank\\',
  ]);
  expect(mountPointsBelow(mountinfo, '/pods/ab')).toEqual(['/pods/ab']);
});

describe.runIf(process.platform === 'linux')('a subPath', () => {
  let volume = '';
  let outside = '';
  beforeEach(async () => {
    volume = await realpath(await mkdtemp(join(tmpdir(), 'volume-')));
    outside = await realpath(await mkdtemp(join(tmpdir(), 'outside-')));
  });
  afterEach(async () => {
    for (const folder of [volume, outside]) await rm(folder, { recursive: true });
  });

  /** Where the descriptor leads, below the volume. */
  const opened = async (resolved: ResolvedSubPath): Promise<string> => {
    const handle = await openSubPath(resolved);
    try {
      return (await readlink(pathOf(handle))).slice(volume.length);
    } finally {
      await handle.close();
    }
  };
  const at = async (subPath: string): Promise<string> => opened(await resolveSubPath(volume, subPath));

  test('stays in its volume whatever links lie there', async () => {
    await symlink(outside, join(volume, 'out'));
    await symlink('inner', join(volume, 'in'));
    expect([await at('inner/deep'), await at('in/./deep//'), await at('.')]).toEqual([
      '/inner/deep',
      '/inner/deep',
      '',
    ]);
    for (const path of ['out', 'out/new', '..', 'inner/../..', 'new/../../x', 'n/'.repeat(2_100)])
      await expect(at(path)).rejects.toThrow(/leads out of the volume|must not contain '..'|too long/);
    expect(await readdir(outside)).toEqual([]);
  });

  test('is a file where there is one', async () => {
    await writeFile(join(volume, 'file'), '');
    await symlink('file', join(volume, 'link'));
    expect([await at('file'), await at('link')]).toEqual(['/file', '/file']);
    await expect(at('file/below')).rejects.toThrow('ENOTDIR');
  });

  test('creates missing directories with the mode of the volume', async () => {
    await chmod(volume, 0o2777);
    await at('a/b');
    const modes = [join(volume, 'a'), join(volume, 'a/b')].map(async (path) => (await stat(path)).mode);
    expect((await Promise.all(modes)).map((mode) => mode & 0o7777)).toEqual([0o2777, 0o2777]);
  });

  test('is not followed out when a directory becomes a link after it was looked at', async () => {
    await mkdir(join(volume, 'a/b'), { recursive: true });
    await mkdir(join(outside, 'b'));
    const found = await resolveSubPath(volume, 'a/b');
    const missing = await resolveSubPath(volume, 'new/deep');
    await rename(join(volume, 'a'), join(volume, 'kept'));
    await symlink(outside, join(volume, 'a'));
    await symlink(outside, join(volume, 'new'));
    await expect(opened(found)).rejects.toThrow('unexpected symbolic link "a"');
    await expect(opened(missing)).rejects.toThrow('unexpected symbolic link "new"');
    expect(await readdir(outside)).toEqual(['b']);
  });

  test('stays what was opened when its name becomes a link', async () => {
    await mkdir(join(volume, 'a/b'), { recursive: true });
    const handle = await openSubPath(await resolveSubPath(volume, 'a/b'));
    await rename(join(volume, 'a'), join(volume, 'kept'));
    await symlink(outside, join(volume, 'a'));
    expect(await readlink(pathOf(handle))).toBe(join(volume, 'kept/b'));
    await handle.close();
  });

  test('is refused when the descriptor is not below the volume', async () => {
    await mkdir(join(volume, 'a'));
    const found = await resolveSubPath(volume, 'a');
    const elsewhere = { ...found, volume: join(volume, 'a'), found: ['..'] };
    await expect(opened(elsewhere)).rejects.toThrow('leads out of the volume');
  });
});
