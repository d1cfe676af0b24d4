#!/usr/bin/env node
/** `pilothouse` of the npm package, which is built already; in a clone it makes itself ready first. */
import { existsSync } from 'node:fs';

const clone = new URL('../setup/pilothouse.mjs', import.meta.url);
await import((existsSync(clone) ? clone : new URL('../../dist/cli/cli.js', import.meta.url)).href);
