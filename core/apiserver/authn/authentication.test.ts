import { expect, test } from 'vitest';
import { Registry } from '../../base/metrics/index.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { silentLog } from '../../base/log.ts';
import { fakeContext, noPeer } from '../server/testing/fake-context.ts';
import { RequestHeaders } from '../server/headers.ts';
import { anonymousAuthenticator, HEALTH_PATHS } from './anonymous.ts';
import { authenticationStage } from './authentication-stage.ts';
import { authenticationFailed, unionAuthenticator, type Authenticator } from './authenticator.ts';
import { bearerTokenAuthenticator } from './bearer-token.ts';
import { splitServiceAccountUsername, userInfo } from '../server/user.ts';

const failing: Authenticator = {
  name: 'failing',
  authenticate() {
    throw authenticationFailed('bad');
  },
};
const knowing: Authenticator = { name: 'knowing', authenticate: () => userInfo('ann', ['dev']) };
const silent: Authenticator = { name: 'silent', authenticate: () => undefined };

const stage = (authenticator: Authenticator, anonymous?: Authenticator) =>
  authenticationStage({
    authenticator,
    ...(anonymous && { anonymous }),
    metrics: new Registry(),
    log: silentLog,
  });

test('one authenticator that knows the caller outweighs one that does not like its credentials', async () => {
  const { context } = fakeContext({
    url: '/api/v1/pods',
    headers: {
      authorization: 'Bearer x',
      'x-remote-user': 'root',
      'x-remote-extra-a': 'b',
      accept: 'text/plain',
    },
  });
  await stage(unionAuthenticator([failing, silent, knowing])).run(context);
  expect(context.user).toEqual(userInfo('ann', ['dev', 'system:authenticated']));
  expect([...context.request.headers.entries()].map(([name]) => name)).toEqual(['accept']);
});

test('bad credentials do not make one anonymous; none do, where that is allowed', async () => {
  const anonymous = anonymousAuthenticator({ paths: HEALTH_PATHS });
  const run = async (authenticator: Authenticator, url: string) => {
    const { context } = fakeContext({ url });
    await stage(authenticator, anonymous).run(context);
    return context.user;
  };
  expect(await run(silent, '/readyz')).toEqual(userInfo('system:anonymous', ['system:unauthenticated']));
  await expect(run(silent, '/api/v1/pods')).rejects.toMatchObject({ code: 401, message: 'Unauthorized' });
  await expect(run(failing, '/readyz')).rejects.toMatchObject({ code: 401 });
});

test('a token is read from the header, or from a WebSocket subprotocol which is then taken out', async () => {
  const tokens: string[] = [];
  const bearer = bearerTokenAuthenticator(
    [
      (token) => {
        tokens.push(token);
        return token === 'good' ? userInfo('ann') : undefined;
      },
    ],
    manualClock(),
  );
  const ask = (headers: Record<string, string>) => {
    const bag = RequestHeaders.of(headers);
    return { bag, user: Promise.resolve(bearer.authenticate({ headers: bag, peer: noPeer, path: '/' })) };
  };
  expect((await ask({ authorization: 'bearer good' }).user)?.name).toBe('ann');
  const carried = `base64url.bearer.authorization.k8s.io.${Buffer.from('good').toString('base64url')}`;
  const socket = ask({ 'sec-websocket-protocol': `${carried}, v5.channel.k8s.io` });
  expect((await socket.user)?.name).toBe('ann');
  expect(socket.bag.all('sec-websocket-protocol')).toEqual(['v5.channel.k8s.io']);
  expect(await ask({ authorization: 'Basic eA==' }).user).toBeUndefined();
  expect(await ask({ authorization: 'Bearer  good' }).user).toBeUndefined();
  await expect(
    bearer.authenticate({
      headers: RequestHeaders.of({ authorization: 'Bearer bad' }),
      peer: noPeer,
      path: '/',
    }),
  ).rejects.toThrow('invalid bearer token');
  // The second time a good token came, its first verdict still held.
  expect(tokens).toEqual(['good', 'bad']);
});

test.each([
  ['system:serviceaccount:default:web', { namespace: 'default', name: 'web' }],
  ['system:serviceaccount:default:web:x', undefined],
  ['system:serviceaccount:default', undefined],
  ['system:serviceaccount:De:web', undefined],
  ['system:serviceaccount::web', undefined],
  ['jane', undefined],
])('%s is the name of a service account: %o', (name, expected) => {
  expect(splitServiceAccountUsername(name)).toEqual(expected);
});
