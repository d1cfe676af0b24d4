/** The whole of node-forge takes half a second to load; its DER writer alone does not. */
declare module 'node-forge/lib/asn1.js' {
  import type { asn1 } from 'node-forge';
  const asn1Module: typeof asn1;
  export default asn1Module;
}
