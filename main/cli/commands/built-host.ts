/** What hosts run, beside the built command line: dist/cli/cli.js (or a chunk of it) and dist/host/host.js. */
export const builtHost = (): URL => new URL('../host/host.js', import.meta.url);
