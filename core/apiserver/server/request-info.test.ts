import { expect, test } from 'vitest';
import { isLongRunning, parseRequestInfo } from './request-info.ts';

const parse = (method: string, url: string) => {
  const [path = '', query = ''] = url.split('?');
  return parseRequestInfo({ method, path, query: new URLSearchParams(query) });
};
const summary = (method: string, url: string): string => {
  const info = parse(method, url);
  const { verb, apiPrefix, apiGroup, apiVersion, namespace, resource, subresource, name, parts } = info;
  return [
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    parts.join('/'),
  ].join(' ');
};

// Verb, prefix, group, version, namespace, resource, subresource, name, parts: upstream's table of cases.
test.each([
  ['GET', '/api/v1/namespaces', 'list api  v1  namespaces   namespaces'],
  ['GET', '/api/v1/namespaces/other', 'get api  v1 other namespaces  other namespaces/other'],
  ['GET', '/api/v1/namespaces/other/pods', 'list api  v1 other pods   pods'],
  ['GET', '/api/v1/namespaces/other/pods/foo', 'get api  v1 other pods  foo pods/foo'],
  ['HEAD', '/api/v1/namespaces/other/pods/foo', 'get api  v1 other pods  foo pods/foo'],
  ['GET', '/api/v1/pods', 'list api  v1  pods   pods'],
  ['HEAD', '/api/v1/pods', 'list api  v1  pods   pods'],
  ['GET', '/api/v1/proxy/namespaces/other/pods/foo', 'proxy api  v1 other pods  foo pods/foo'],
  [
    'GET',
    '/api/v1/proxy/namespaces/other/pods/foo/subpath/not/a/subresource',
    'proxy api  v1 other pods  foo pods/foo/subpath/not/a/subresource',
  ],
  ['GET', '/api/v1/watch/pods', 'watch api  v1  pods   pods'],
  ['GET', '/api/v1/pods?watch=true', 'watch api  v1  pods   pods'],
  ['GET', '/api/v1/pods?watch=false', 'list api  v1  pods   pods'],
  ['GET', '/api/v1/pods?watch=0', 'list api  v1  pods   pods'],
  ['GET', '/api/v1/pods?watch=', 'watch api  v1  pods   pods'],
  ['GET', '/api/v1/watch/namespaces/other/pods', 'watch api  v1 other pods   pods'],
  ['GET', '/api/v1/namespaces/other/pods?watch=1', 'watch api  v1 other pods   pods'],
  ['GET', '/api/v1/namespaces/other/pods/foo/status', 'get api  v1 other pods status foo pods/foo/status'],
  [
    'GET',
    '/api/v1/namespaces/other/pods/foo/proxy/subpath',
    'get api  v1 other pods proxy foo pods/foo/proxy/subpath',
  ],
  [
    'PUT',
    '/api/v1/namespaces/other/finalize',
    'update api  v1 other namespaces finalize other namespaces/other/finalize',
  ],
  [
    'PUT',
    '/api/v1/namespaces/other/status',
    'update api  v1 other namespaces status other namespaces/other/status',
  ],
  ['PATCH', '/api/v1/namespaces/other/pods/foo', 'patch api  v1 other pods  foo pods/foo'],
  ['DELETE', '/api/v1/namespaces/other/pods/foo', 'delete api  v1 other pods  foo pods/foo'],
  ['DELETE', '/api/v1/namespaces/other/pods', 'deletecollection api  v1 other pods   pods'],
  ['POST', '/api/v1/namespaces/other/pods', 'create api  v1 other pods   pods'],
  ['OPTIONS', '/api/v1/pods', ' api  v1  pods   pods'],
  [
    'GET',
    '/apis/apps/v1/namespaces/other/deployments/foo',
    'get apis apps v1 other deployments  foo deployments/foo',
  ],
  ['GET', '/apis/apps/v1/deployments', 'list apis apps v1  deployments   deployments'],
])('%s %s', (method, url, expected) => {
  expect(summary(method, url)).toBe(expected);
  expect(parse(method, url).isResourceRequest).toBe(true);
});

test.each([
  ['GET', '/', 'get        '],
  ['GET', '/api', 'get        '],
  ['GET', '/api/v1', 'get        '],
  ['GET', '/apis', 'get        '],
  ['GET', '/apis/apps', 'get        '],
  ['GET', '/apis/apps/v1', 'get apis       '],
  ['GET', '/healthz/etcd/x', 'get        '],
  ['POST', '/not/an/api/path', 'post        '],
])('%s %s asks for no resource', (method, url, expected) => {
  expect(summary(method, url)).toBe(expected);
  expect(parse(method, url).isResourceRequest).toBe(false);
});

test.each([
  ['metadata.name=name1', 'name1'],
  ['metadata.name==name1', 'name1'],
  ['metadata.name=name1,spec.nodeName=a', 'name1'],
  ['metadata.name!=name1', ''],
  ['metadata.name=../x', ''],
  ['metadata.name=a%25b', ''],
  ['invalid', ''],
])('the name of a list with the field selector %s is "%s"', (selector, name) => {
  const { verb, name: found, fieldSelector } = parse('GET', `/api/v1/pods?fieldSelector=${selector}`);
  expect({ verb, found, fieldSelector }).toEqual({
    verb: 'list',
    found: name,
    fieldSelector: decodeURIComponent(selector),
  });
});

test('one option that does not parse costs the name, not the verb', () => {
  const { verb, name } = parse('GET', '/api/v1/pods?watch=1&fieldSelector=metadata.name=a&limit=x');
  expect({ verb, name }).toEqual({ verb: 'watch', name: '' });
});

test('selectors are reported for collections, and not for legacy watch paths', () => {
  const selectors = (method: string, url: string) => parse(method, `${url}?labelSelector=a`).labelSelector;
  expect([
    selectors('GET', '/api/v1/pods'),
    selectors('DELETE', '/api/v1/namespaces/x/pods'),
    selectors('GET', '/api/v1/namespaces/x/pods/y'),
    selectors('GET', '/api/v1/watch/pods'),
  ]).toEqual(['a', 'a', '', '']);
});

test('a legacy verb needs something to act on', () => {
  expect(() => parse('GET', '/api/v1/watch')).toThrow(
    'unable to determine kind and namespace from url, /api/v1/watch',
  );
});

test.each([
  ['/api/v1/pods?watch=1', true],
  ['/api/v1/namespaces/a/pods/b/exec', true],
  ['/api/v1/namespaces/a/pods/b/log', true],
  ['/debug/pprof/heap', true],
  ['/api/v1/pods', false],
  ['/api/v1/namespaces/a/pods/b/status', false],
  ['/healthz', false],
])('%s long-running: %s', (url, expected) => {
  expect(isLongRunning(parse('GET', url))).toBe(expected);
});
