/** The releases in CHANGELOG.md, newest first. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

/** `## 0.2.0 - 2026-11-18`, as in keepachangelog.com. */
const RELEASE = /^## (\d+\.\d+\.\d+(?:-[\w.]+)?) - (\d{4}-\d{2}-\d{2})$/gm;

export const changelogReleases = (text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')) => {
  const found = [...text.matchAll(RELEASE)];
  return found.map((match, at) => ({
    version: match[1],
    date: match[2],
    /** Markdown, without the heading. */
    notes: text.slice(match.index + match[0].length, found[at + 1]?.index ?? text.length).trim(),
  }));
};
