/** An archive that runs from wherever it is unpacked. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../progress.mjs';
import { run } from '../run.mjs';
import { stagePortableTree } from './tree.mjs';

export const buildTarGz = async ({ unpacked, output, version, arch, epoch, level = 9 }) => {
  const name = `pilothouse-${version}-linux-${arch}`;
  const work = join(output, '.tar');
  await stagePortableTree({ unpacked, stage: join(work, name), epoch });
  const file = join(output, `${name}.tar.gz`);
  const { code, output: said } = await run(
    'tar',
    [
      '--sort=name',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--format=gnu',
      `--use-compress-program=gzip -n -${level}`,
      '-cf',
      file,
      name,
    ],
    { capture: true, cwd: work },
  );
  rmSync(work, { recursive: true, force: true });
  if (code !== 0) throw new SetupError(`tar failed: ${said.trim()}`);
  return file;
};
