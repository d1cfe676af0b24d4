/** Most clients guess right; ports that speak TLS by custom get the address that a browser needs. */
const TLS_PORTS = new Set([443, 6443, 8443, 9443]);
export const forwardUrl = (localPort: number, remotePort: number): string =>
  `${TLS_PORTS.has(remotePort) ? 'https' : 'http'}://127.0.0.1:${localPort}/`;
