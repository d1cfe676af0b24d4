/**
 * `npm run feed -- --key FILE --base URL [--out DIR] [--days N] FILE...`: writes feed.json and feed.json.sig for the
 * releases in CHANGELOG.md and the packages of this version; copy both beside the packages. `--new-key FILE` makes the
 * key pair: the private key stays in FILE, the public one is printed for the settings of the app.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { changelogReleases } from './changelog.mjs';
import { ROOT } from './paths.mjs';
import { runMain, SetupError } from './progress.mjs';

const PUBLIC_KEY_BYTES = 32;
const DAYS_DEFAULT = 90;
const MS_PER_DAY = 24 * 60 * 60_000;
const NOTES_CHARACTERS_MAX = 20_000;
const PRIVATE_MODE = 0o600;

const publicKeyOf = (key) =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_KEY_BYTES).toString('base64');

/** A new private key; never over another. Returns its public key. */
export const makeKey = (file) => {
  if (existsSync(file)) throw new SetupError(`${file} already exists; a key is never overwritten`);
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: PRIVATE_MODE });
  return publicKeyOf(privateKey);
};

const PLATFORMS = [
  [/\.(deb|rpm|AppImage)$|-linux-/, 'linux'],
  [/\.exe$/, 'win32'],
  [/\.dmg$/, 'darwin'],
];
const ARCHITECTURES = [
  [/arm64|aarch64/, 'arm64'],
  [/amd64|x86_64|x64/, 'x64'],
];
const firstOf = (table, name) => table.find(([pattern]) => pattern.test(name))?.[1];

const fileEntry = (path, base) => {
  const name = basename(path);
  const platform = firstOf(PLATFORMS, name);
  const arch = firstOf(ARCHITECTURES, name);
  if (!platform || !arch) throw new SetupError(`cannot tell the platform of ${name} from its name`);
  return {
    platform,
    arch,
    url: new URL(encodeURIComponent(name), base).href,
    sha256: createHash('sha256').update(readFileSync(path)).digest('hex'),
    bytes: statSync(path).size,
  };
};

/** The bytes of a feed and their signature. */
export const signedFeed = ({ key, base, files, version, releases, nowMs, days = DAYS_DEFAULT }) => {
  const feed = {
    product: 'pilothouse',
    sequence: Math.floor(nowMs / 1000),
    expires: new Date(nowMs + days * MS_PER_DAY).toISOString(),
    releases: releases.map((release) => ({
      version: release.version,
      date: release.date,
      notes: release.notes.slice(0, NOTES_CHARACTERS_MAX),
      files: release.version === version ? files.map((path) => fileEntry(path, base)) : [],
    })),
  };
  const bytes = Buffer.from(`${JSON.stringify(feed, undefined, 2)}\n`);
  return { bytes, signature: `${sign(null, bytes, createPrivateKey(key)).toString('base64')}\n` };
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runMain(async () => {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        'new-key': { type: 'string' },
        key: { type: 'string' },
        base: { type: 'string' },
        out: { type: 'string', default: 'release' },
        days: { type: 'string', default: String(DAYS_DEFAULT) },
      },
    });
    if (values['new-key'] !== undefined) {
      process.stdout.write(`public key: ${makeKey(resolve(values['new-key']))}\n`);
      return;
    }
    if (values.key === undefined || !values.base?.startsWith('https://'))
      throw new SetupError('feed requires --key FILE and --base https://...');
    const key = readFileSync(resolve(values.key), 'utf8');
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const { bytes, signature } = signedFeed({
      key,
      base: values.base.endsWith('/') ? values.base : `${values.base}/`,
      files: positionals.map((path) => resolve(path)),
      version,
      releases: changelogReleases(),
      nowMs: Date.now(),
      days: Number(values.days),
    });
    const out = resolve(values.out);
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'feed.json'), bytes);
    writeFileSync(join(out, 'feed.json.sig'), signature);
    process.stdout.write(`${join(out, 'feed.json')}\npublic key: ${publicKeyOf(createPrivateKey(key))}\n`);
  });
