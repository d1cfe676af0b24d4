export const DEEP_LINK_SCHEME = 'pilothouse';

const LINK_CHARACTERS_MAX = 1024;
/** Names of Kubernetes objects, namespaces and pages, and the query of a list. Nothing that could be markup. */
const PATH_PATTERN = /^\/[A-Za-z0-9\-._~/:@]*$/;
const QUERY_PATTERN = /^\?[A-Za-z0-9\-._~/:@=&%+,]*$/;

/**
 * The page of the console that a link means, or undefined when it means none: `pilothouse://raft/members` is
 * `/raft/members`. Links come from anywhere (a browser, a mail), so they can only name a page, never act.
 */
export const pathOfDeepLink = (link: string): string | undefined => {
  if (link.length > LINK_CHARACTERS_MAX || !URL.canParse(link)) return undefined;
  const url = new URL(link);
  if (url.protocol !== `${DEEP_LINK_SCHEME}:` || url.username || url.password || url.port) return undefined;
  // `pilothouse:raft` and `pilothouse:/raft` have no authority; the page is all in the path then.
  const path = `/${url.host}/${url.pathname}`.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');
  if (!PATH_PATTERN.test(path)) return undefined;
  if (path.split('/').some((segment) => segment === '..' || segment === '.')) return undefined;
  if (url.search !== '' && !QUERY_PATTERN.test(url.search)) return undefined;
  return path + url.search;
};
