/** A parameter of the query or the path. Bodies are described with their operation. */
export interface ApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'boolean' | 'integer';
  readonly description: string;
}

type Row = readonly [type: ApiParameter['type'], description: string];

const QUERY: Readonly<Record<string, Row>> = {
  allowWatchBookmarks: ['boolean', 'Asks a watch to send bookmarks, which tell how far it has come.'],
  continue: ['string', 'The token that the list before this one ended with: asks for its next part.'],
  dryRun: ['string', 'With the value All, nothing is stored: every other stage of the request is run.'],
  fieldManager: [
    'string',
    'The name under which the changed fields are owned: at most 128 printable characters.',
  ],
  fieldSelector: ['string', 'Restricts the objects by their fields. Everything is selected without it.'],
  fieldValidation: [
    'string',
    'What to do with unknown and duplicate fields of the body: Ignore drops them, Warn (the default) drops them and tells so in warnings, Strict refuses the request.',
  ],
  force: ['boolean', 'Takes fields over that other managers own. For apply patches alone.'],
  gracePeriodSeconds: ['integer', 'How long the object may take to end; zero deletes at once.'],
  ignoreStoreReadErrorWithClusterBreakingPotential: [
    'boolean',
    'Deletes an object that cannot be read from storage, without its finalizers and preconditions.',
  ],
  labelSelector: ['string', 'Restricts the objects by their labels. Everything is selected without it.'],
  limit: ['integer', 'The greatest number of objects in the answer; more are fetched with continue.'],
  orphanDependents: ['boolean', 'Deprecated: use propagationPolicy. Leaves the dependents without an owner.'],
  pretty: ['string', 'With the value true the answer is indented.'],
  propagationPolicy: ['string', 'What happens to dependents: Orphan, Background or Foreground.'],
  resourceVersion: ['string', 'How new the answer must be; what it means depends on resourceVersionMatch.'],
  resourceVersionMatch: ['string', 'How resourceVersion is meant for lists: Exact or NotOlderThan.'],
  sendInitialEvents: [
    'boolean',
    'Begins a watch with the objects there are, then a bookmark, then the changes.',
  ],
  timeoutSeconds: ['integer', 'Limits how long the call lasts, however active it is.'],
  watch: ['boolean', 'Streams changes as events of add, update and remove. Begin at resourceVersion.'],
  command: ['string', 'The command and its arguments. It is not run in a shell.'],
  container: ['string', 'The container; may be left out where the pod has one alone.'],
  follow: ['boolean', 'Streams the log as it grows.'],
  insecureSkipTLSVerifyBackend: ['boolean', "Does not check the certificate of the node's server."],
  limitBytes: ['integer', 'Ends the log after so many bytes.'],
  path: ['string', 'The part of the URL that is asked of the proxied server.'],
  ports: ['integer', 'The ports to forward. Needed with WebSockets.'],
  previous: ['boolean', 'Reads the log of the instance before this one.'],
  sinceSeconds: ['integer', 'Begins the log so many seconds before now.'],
  stderr: ['boolean', 'Passes on the standard error stream.'],
  stdin: ['boolean', 'Passes on the standard input stream.'],
  stdout: ['boolean', 'Passes on the standard output stream.'],
  stream: ['string', 'Which stream of the container: All, Stdout or Stderr.'],
  tailLines: ['integer', 'Begins the log so many lines before its end.'],
  timestamps: ['boolean', 'Puts the time in front of each line.'],
  tty: ['boolean', 'Allocates a terminal for the call.'],
};

export const queryParameter = (name: string): ApiParameter => {
  const row = QUERY[name];
  if (!row) throw new Error(`there is no query parameter ${name}`);
  return { name, in: 'query', type: row[0], description: row[1] };
};

export const nameParameter = (kind: string): ApiParameter => ({
  name: 'name',
  in: 'path',
  type: 'string',
  description: `name of the ${kind}`,
});

export const namespaceParameter: ApiParameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'the namespace that objects and permissions belong to',
};

export const pathParameter: ApiParameter = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'the path that is asked of the proxied server',
};

const LIST = [
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
];
const DELETE = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];
const WRITE = ['dryRun', 'fieldManager', 'fieldValidation'];

/** The query parameters of an action, besides `pretty`. */
export const PARAMETERS_OF_ACTION: Readonly<Record<string, readonly string[]>> = {
  get: [],
  list: ['allowWatchBookmarks', ...LIST, 'watch'],
  watch: ['allowWatchBookmarks', ...LIST, 'watch'],
  watchlist: ['allowWatchBookmarks', ...LIST, 'watch'],
  post: WRITE,
  put: WRITE,
  patch: [...WRITE, 'force'],
  delete: DELETE,
  deletecollection: [...DELETE, ...LIST],
};

const LOG = [
  'container',
  'follow',
  'insecureSkipTLSVerifyBackend',
  'limitBytes',
  'previous',
  'sinceSeconds',
  'stream',
  'tailLines',
  'timestamps',
];
const STREAMS = ['container', 'stderr', 'stdin', 'stdout', 'tty'];

/** Subresources that take options in their query. */
export const PARAMETERS_OF_SUBRESOURCE: Readonly<Record<string, readonly string[]>> = {
  attach: STREAMS,
  exec: ['command', ...STREAMS],
  log: LOG,
  portforward: ['ports'],
  proxy: ['path'],
};
