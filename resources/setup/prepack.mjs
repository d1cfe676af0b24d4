/** Before `npm pack`: what is packed is the build of these sources, so that no build is needed after an install. */
import { bootstrap } from './bootstrap.mjs';
import { runMain } from './progress.mjs';

await runMain(bootstrap);
