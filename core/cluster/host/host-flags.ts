/** The main thread of a host runs a kubelet alone, and needs little. Each thread collects what its start left behind. */
export const HOST_FLAGS: readonly string[] = ['--max-semi-space-size=4', '--expose-gc'];

/**
 * For the allocator of glibc, which otherwise keeps a heap for each of a host's twenty threads and what large buffers
 * were freed of; others do not look at it.
 */
export const HOST_ENVIRONMENT: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
