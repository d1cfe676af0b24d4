import workerThreads from 'node:worker_threads';
import zlib from 'node:zlib';

/**
 * The HTTP client inside of @kubernetes/client-node 2 is written for Node 22. Of what Node 20 lacks, the first two
 * are looked for when it is loaded and never called here: no server that is tested sends Zstandard, and nothing is sent
 * to another thread. Import this before the client.
 */
if (!('createZstdDecompress' in zlib))
  Object.assign(zlib, {
    createZstdDecompress: (): never => {
      throw new Error('this Node has no Zstandard');
    },
  });
if (!('markAsUncloneable' in workerThreads))
  Object.assign(workerThreads, { markAsUncloneable: (): void => undefined });
if (!('withResolvers' in Promise))
  Object.assign(Promise, {
    withResolvers: () => {
      let settle: { resolve: (value: unknown) => void; reject: (reason: unknown) => void } | undefined;
      const promise = new Promise((resolve, reject) => {
        settle = { resolve, reject };
      });
      return { promise, ...settle };
    },
  });
